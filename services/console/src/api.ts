import { QueryClient } from '@tanstack/react-query'

/** A refusal of the API. `path` is the field that it is about. */
export class ApiError extends Error {
  readonly status: number
  readonly path: string | undefined
  readonly requestId: string | undefined
  constructor(status: number, message: string, path: string | undefined, requestId: string | undefined) {
    super(message)
    this.status = status
    this.path = path
    this.requestId = requestId
  }
}

/** Calls the API by the cookie of the session. */
export async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
  const response = await fetch(`/api${path}`, {
    method,
    ...(body !== undefined && { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } }),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json')
  const answer = isJson ? JSON.parse(text) : { message: text }
  if (response.ok) return answer
  throw new ApiError(response.status, answer.message, answer.path, response.headers.get('x-request-id') ?? undefined)
}

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      retry: (count, error) => count < 2 && !(error instanceof ApiError && error.status < 500),
    },
  },
})
