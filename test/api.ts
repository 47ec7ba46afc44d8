import assert, { AssertionError } from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { sendHttp } from '@rollcall/testing/send-http'
import { checkAnswer } from './answers.ts'

/** An answer of the API; `body` is the parsed JSON, or the text if it is not JSON. */
export type Answer<Body = unknown> = { status: number; headers: Headers; text: string; body: Body }

/** Query, body and headers of a request. Objects in the query are sent as JSON, a FormData body as multipart. */
export type Sent = { body?: unknown; query?: Record<string, unknown>; headers?: Record<string, string> }

const retryMs = 200

/** A client of one gateway with one credential. Every answer is checked against the contract. */
export type Api = {
  url: string
  /** Headers of every request. */
  headers: Readonly<Record<string, string>>
  request<Body>(method: string, path: string, sent?: Sent): Promise<Answer<Body>>
  get<Body>(path: string, query?: Record<string, unknown>): Promise<Answer<Body>>
  post<Body>(path: string, body?: unknown): Promise<Answer<Body>>
  patch<Body>(path: string, body?: unknown): Promise<Answer<Body>>
  put<Body>(path: string, body?: unknown): Promise<Answer<Body>>
  delete<Body>(path: string, body?: unknown): Promise<Answer<Body>>
  /** Sends a file as the multipart field `file`. */
  upload<Body>(path: string, content: string | Uint8Array<ArrayBuffer>, fileName?: string): Promise<Answer<Body>>
  /** Returns a client of the same gateway with another credential. */
  as(credential: string): Api
  /** Returns a client of another gateway with the same credential. */
  at(url: string): Api
  /** Returns a client with additional headers on every request. */
  with(headers: Record<string, string>): Api
}

/** Creates a client, with or without a credential. */
export function createApi(url: string, headers: Record<string, string> = {}): Api {
  const request: Api['request'] = async <Body>(method: string, path: string, sent: Sent = {}) => {
    const target = new URL(path, url)
    for (const [name, value] of Object.entries(sent.query ?? {})) target.searchParams.set(name, queryValue(value))
    const answer = await sendHttp(target, { method, ...(await encoded(sent.body, { ...headers, ...sent.headers })) })
    const { text } = answer
    checkAnswer(method, target, answer.status, answer.headers, text)
    const isJson = text !== '' && answer.headers.get('content-type')?.startsWith('application/json')
    return { ...answer, body: (isJson ? JSON.parse(text) : text) as Body }
  }
  return {
    url,
    headers,
    request,
    get: (path, query) => request('GET', path, query && { query }),
    post: (path, body) => request('POST', path, { body }),
    patch: (path, body) => request('PATCH', path, { body }),
    put: (path, body) => request('PUT', path, { body }),
    delete: (path, body) => request('DELETE', path, { body }),
    upload: (path, content, fileName = 'contacts.csv') => {
      const form = new FormData()
      form.set('file', new Blob([content], { type: 'text/csv' }), fileName)
      return request('POST', path, { body: form })
    },
    as: credential => createApi(url, { ...headers, authorization: credential }),
    at: other => createApi(other, headers),
    with: more => createApi(url, { ...headers, ...more }),
  }
}

/** Returns the body of an answer, which must have this status. */
export async function bodyOf<Body>(answer: Promise<Answer<Body>>, status = 200): Promise<Body> {
  const { status: actual, text, body } = await answer
  assert.equal(actual, status, text.slice(0, 500))
  return body
}

/** Repeats a request while it gets 503, which is the answer while a killed service restarts. */
export async function onceServed<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask()
    } catch (error) {
      if (!(error instanceof AssertionError) || error.actual !== 503) throw error
      await sleep(retryMs)
    }
  }
}

/** Signs in and returns a client with the session. */
export async function signIn(api: Api, email: string, password: string): Promise<Api> {
  const { token } = await bodyOf(api.post<{ token: string }>('/api/auth/login', { email, password }))
  return api.as(token)
}

/** Creates an API token and returns its id, its secret and a client with it. */
export async function makeToken(
  api: Api,
  fields: { name?: string; role?: string; expiresAt?: string } = {},
): Promise<{ id: string; token: string; api: Api }> {
  const made = await bodyOf(api.post<{ id: string; token: string }>('/api/tokens', { name: 'test', ...fields }), 201)
  return { id: made.id, token: made.token, api: api.as(made.token) }
}

function queryValue(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

async function encoded(
  body: unknown,
  headers: Record<string, string>,
): Promise<{ headers: Record<string, string>; body?: string | Uint8Array }> {
  if (body === undefined) return { headers }
  if (typeof body === 'string') return { headers: { 'content-type': 'text/plain;charset=UTF-8', ...headers }, body }
  if (!(body instanceof FormData))
    return { headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) }
  const form = new Response(body)
  const type = form.headers.get('content-type')!
  return { headers: { ...headers, 'content-type': type }, body: await form.bytes() }
}
