import type { Match } from '@rollcall/contract'
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
/** The route whose answers scripts of the form's own origins may read. */
const FORM_PATH = '/api/forms/:key/submit'
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

/** Where the origins are that are allowed. */
export type OriginChecks = {
  origins: Client<'rollcall.identity.v1.Origins'>
  forms: Client<'rollcall.content.v1.Forms'>
}

/**
 * Returns what the answer to a preflight request has besides `corsHeaders`. It has no credential, so it names the origin
 * if any organization allows it; at a form, if that form does.
 */
export async function preflightHeaders(
  exchange: Exchange,
  match: Match | undefined,
  { origins, forms }: OriginChecks,
): Promise<readonly Header[]> {
  const { request, consoleOrigins } = exchange
  const { origin } = request.headers
  if (origin === undefined || request.headers['access-control-request-method'] === undefined) return none
  if (isForm(match)) await allowAtForm(exchange, match, forms)
  else if (consoleOrigins.has(origin) || (await origins.checkOrigin({ origin }, callOf(exchange))).allowed)
    exchange.allowedOrigins = [origin]
  if (!exchange.allowedOrigins) return none
  return [
    ['Access-Control-Allow-Methods', METHODS],
    ['Access-Control-Allow-Headers', REQUEST_HEADERS],
    ['Access-Control-Max-Age', String(MAX_AGE_SECONDS)],
  ]
}

/** Lets scripts of other origins read the answer of a form that allows them. Costs a call, for such requests only. */
export async function allowAtForm(
  exchange: Exchange,
  match: Match | undefined,
  forms: Client<'rollcall.content.v1.Forms'>,
): Promise<void> {
  const { origin } = exchange.request.headers
  if (origin === undefined || !isForm(match)) return
  const { allowed } = await forms.checkFormOrigin({ id: match.params.key!, origin }, callOf(exchange))
  if (allowed) exchange.allowedOrigins = [origin]
}

function isForm(match: Match | undefined): match is Match {
  return match?.route.path === FORM_PATH
}

function callOf({ id: requestId, deadline, signal }: Exchange) {
  return { caller: serviceCaller('gateway'), requestId, deadline, signal }
}
