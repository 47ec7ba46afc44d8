import { createClient, RollcallError } from '@rollcall/sdk'
import { QueryClient } from '@tanstack/react-query'
import { currentImpersonation } from './impersonation/store.ts'
import { noteAnswer } from './server-clock.ts'

/** The API, by the session of an impersonation while there is one, else by the cookie. */
export const rollcall = createClient({
  token: () => currentImpersonation()?.token,
  onResponse: noteAnswer,
})

/** The API by the cookie alone, also during an impersonation. */
export const ownSession = createClient()

/** Everything that was read from the API. The client repeats what is worth it, so queries repeat nothing. */
export const queryClient = new QueryClient({
  defaultOptions: { queries: { staleTime: 10_000, retry: false }, mutations: { retry: false } },
})

/** Whether an error is a refusal with this status. */
export function isStatus(error: unknown, status: number): error is RollcallError {
  return error instanceof RollcallError && error.status === status
}
