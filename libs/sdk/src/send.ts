import type { Route } from './call.ts'
import { ConnectionError, errorOf, RollcallError, TimeoutError } from './errors.ts'
import type { CallName } from './gen/routes.ts'

/** Settings of a client. */
export type ClientOptions = {
  /**
   * An API token or a session's JWT; a function is called for each attempt, and may be asynchronous. Without one, the
   * browser sends its session cookie.
   */
  token?: string | (() => string | undefined | Promise<string | undefined>) | undefined
  /** Address of the API, without `/api`. Default: the origin of the page. */
  baseUrl?: string | undefined
  /** Replaces the global `fetch`. */
  fetch?: typeof fetch | undefined
  /** How long an attempt may take, in milliseconds; of a streamed answer, until it begins. Default: 30,000. */
  timeoutMs?: number | undefined
  /** How often a call that is safe to repeat is repeated. Default: 2. */
  maxRetries?: number | undefined
  /** Called with every response, those of repeated attempts included. */
  onResponse?: ((response: Response, attempt: Attempt) => void) | undefined
}

/** An attempt at a call. */
export type Attempt = {
  call: CallName
  /** From 0. */
  number: number
  durationMs: number
}

/** A call that is ready to be sent. */
export type Request = {
  call: CallName
  verb: Route['verb']
  startsJob?: true | undefined
  /** Path and query. */
  target: string
  headers: Record<string, string>
  /** Creates the body, and what goes with it; called for every attempt. */
  body?: (() => RequestInit) | undefined
  /** Replaces `fetch` for this call. */
  transport?: typeof fetch | undefined
  key?: string | undefined
  /** Whether the client made the key, not the caller. */
  isKeyAutomatic?: boolean
  signal?: AbortSignal | undefined
  timeoutMs: number
  maxRetries: number
}

const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 8_000
/** A longer Retry-After is left to the caller. */
const LONGEST_RETRY_AFTER_MS = 60_000

/** Sends requests and reads their answers; repeats what is safe to repeat. */
export type Send = <T>(request: Request, read: (response: Response) => T | Promise<T>) => Promise<T>

/** Creates the function that sends requests. */
export function createSend({ token, baseUrl = '', fetch: given, onResponse }: ClientOptions): Send {
  const root = baseUrl.replace(/\/+$/, '')
  const address = root || 'the API'
  const attempt = <T>(request: Request, number: number, read: (response: Response) => T | Promise<T>) => {
    const { call, verb, target, body, key, transport = given ?? fetch } = request
    const startedAt = performance.now()
    return withinTime(request, address, async signal => {
      const credential = await own(() => (typeof token === 'function' ? token() : token))
      const headers = {
        ...request.headers,
        ...(credential !== undefined && { authorization: `Bearer ${credential}` }),
        ...(key !== undefined && { 'idempotency-key': key }),
      }
      // A redirect would repeat the call as a GET without its body, and at another origin without its token.
      const init: RequestInit = { method: verb, headers, signal, redirect: 'manual', ...body?.() }
      const response = await transport(root + target, init)
      await own(() => onResponse?.(response, { call, number, durationMs: performance.now() - startedAt }))
      if (isRedirect(response)) throw redirected(response, address)
      if (!response.ok) throw await errorOf(response, address)
      return read(response)
    })
  }
  return async (given, read) => {
    let request = given
    for (let number = 0; ; number++) {
      try {
        return await attempt(request, number, read)
      } catch (error) {
        if (isOutOfKeys(request, error)) request = { ...request, key: undefined, isKeyAutomatic: false }
        else if (number >= request.maxRetries || !isWorthRepeating(request, error, number)) throw error
        else await pause(pauseMs(error, number), request.signal)
      }
    }
  }
}

/** An error of the caller's own function: it says nothing of the API. */
class OwnError extends Error {}

async function own<T>(run: () => T | Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (cause) {
    throw new OwnError(undefined, { cause })
  }
}

/** Whether an answer is a redirect. Browsers hide all else of it. */
function isRedirect({ type, status }: Response): boolean {
  return type === 'opaqueredirect' || [301, 302, 303, 307, 308].includes(status)
}

function redirected({ status, headers }: Response, address: string): RollcallError {
  const target = headers.get('location')
  const place = target ? ` to ${target}` : ''
  return new RollcallError(`${address} redirects${place}: use the address of the API as baseUrl`, { status })
}

/** Runs an attempt; aborts it with the caller's signal or after the timeout. */
async function withinTime<T>(
  { signal, timeoutMs }: Request,
  address: string,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const timeout = new AbortController()
  const timer = Number.isFinite(timeoutMs) ? setTimeout(() => timeout.abort(), timeoutMs) : undefined
  try {
    return await run(signal ? AbortSignal.any([signal, timeout.signal]) : timeout.signal)
  } catch (error) {
    if (signal?.aborted) throw signal.reason
    if (error instanceof OwnError) throw error.cause
    if (error instanceof RollcallError) throw error
    if (timeout.signal.aborted)
      throw new TimeoutError(`${address} did not answer within ${timeoutMs} ms`, { status: 0, cause: error })
    throw new ConnectionError(`${address} cannot be reached: ${messageOf(error)}`, { status: 0, cause: error })
  } finally {
    clearTimeout(timer)
  }
}

/** Whether the API has too many keys of the caller in store. It takes the call without one. */
function isOutOfKeys({ isKeyAutomatic }: Request, error: unknown): boolean {
  if (!isKeyAutomatic || !(error instanceof RollcallError)) return false
  return error.code === 'quota.too_many_pending' && !isSoon(error)
}

function isSoon({ retryAfterMs = 0 }: RollcallError): boolean {
  return retryAfterMs <= LONGEST_RETRY_AFTER_MS
}

/** Whether repeating a call may help and cannot do it twice. */
function isWorthRepeating({ verb, key, startsJob }: Request, error: unknown, number: number): boolean {
  if (!(error instanceof RollcallError) || !isSoon(error)) return false
  // A repetition would not find the record, or start a second job.
  if (verb === 'DELETE' || startsJob) return error.status === 429
  if (verb === 'POST' && key === undefined) return false
  // The attempt before may still be running.
  if (error.code === 'idempotency.unfinished') return number > 0
  return [0, 429, 502, 503, 504].includes(error.status)
}

/** Returns how long to wait: what the API says, otherwise twice as long each time, with jitter. */
function pauseMs(error: unknown, number: number): number {
  if (error instanceof RollcallError && error.retryAfterMs !== undefined) return error.retryAfterMs
  const longest = Math.min(FIRST_PAUSE_MS * 2 ** number, LONGEST_PAUSE_MS)
  return longest * (0.5 + Math.random() / 2)
}

/** Waits. @throws the reason of the signal, once it is aborted */
export async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted()
  await new Promise<void>((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal!.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal?.addEventListener('abort', stop, { once: true })
  })
}

function messageOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return cause instanceof Error ? cause.message || cause.name : String(cause)
}
