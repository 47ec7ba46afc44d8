import { type Client, serviceCaller } from '@rollcall/rpc'
import type { Exchange, Header } from './exchange.ts'

const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE'
const REQUEST_HEADERS = 'Authorization, Content-Type, Idempotency-Key, X-Request-Id, Traceparent, Tracestate'
const EXPOSED = [
  'X-Request-Id',
  'X-Error-Code',
  'Retry-After',
  'RateLimit-Policy',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'X-Limit-Clamped',
  'Idempotency-Replayed',
].join(', ')
/** How long browsers remember a preflight. The requests after it are judged again, each by its credential. */
const MAX_AGE_SECONDS = 600
const none: readonly Header[] = []

/**
 * Returns the headers that let a web page of another origin read an answer (Fetch Standard, CORS protocol): of an origin
 * that the credential's organization allows, or of a console, which may also use the session cookie.
 */
export function corsHeaders({ request, consoleOrigins, allowedOrigins }: Exchange): readonly Header[] {
  const { origin } = request.headers
  if (origin === undefined) return none
  const isConsole = consoleOrigins.has(origin)
  if (!isConsole && !allowedOrigins?.includes(origin)) return none
  return [
    ['Access-Control-Allow-Origin', origin],
    ...(isConsole ? ([['Access-Control-Allow-Credentials', 'true']] as const) : []),
    ['Access-Control-Expose-Headers', EXPOSED],
  ]
}

/**
 * Returns what the answer to a preflight request has besides `corsHeaders`. It has no credential, so it names the origin
 * if any organization allows it.
 */
export async function preflightHeaders(
  exchange: Exchange,
  identity: Client<'rollcall.identity.v1.Origins'>,
): Promise<readonly Header[]> {
  const { request, consoleOrigins, id: requestId, deadline, signal } = exchange
  const { origin } = request.headers
  if (origin === undefined || request.headers['access-control-request-method'] === undefined) return none
  const context = { caller: serviceCaller('gateway'), requestId, deadline, signal }
  const isAllowed = consoleOrigins.has(origin) || (await identity.checkOrigin({ origin }, context)).allowed
  if (!isAllowed) return none
  exchange.allowedOrigins = [origin]
  return [
    ['Access-Control-Allow-Methods', METHODS],
    ['Access-Control-Allow-Headers', REQUEST_HEADERS],
    ['Access-Control-Max-Age', String(MAX_AGE_SECONDS)],
  ]
}
