import { status } from '@grpc/grpc-js'

/** Shape of an error body: `{error: true, …}`, `{success: false, …}`, plain text, or OAuth's `{error, error_description}`. */
export type Shape = 'error' | 'success' | 'text' | 'oauth'

/** OAuth error codes: RFC 6749 §5.2, RFC 8693 §2.2.2 and RFC 7591 §3.2.2. */
export type OAuthError =
  | 'invalid_request'
  | 'invalid_client'
  | 'unsupported_grant_type'
  | 'invalid_scope'
  | 'invalid_target'
  | 'invalid_redirect_uri'
  | 'invalid_client_metadata'

/** Details of a refusal with a constant text. */
export type NoDetails = Record<string, never>

/** A refusal in the catalogue. */
export type Entry<D> = {
  http: number
  grpc: number
  shape: Shape
  /** The public text. */
  text: (details: D) => string
  /** The invalid field, if it is always the same one. Otherwise `details.path` names it. */
  path?: string
  /** The `error` of the OAuth shape. */
  oauth?: OAuthError
}

type Options = Partial<Pick<Entry<never>, 'shape' | 'path' | 'oauth'>>

const kind =
  (http: number, grpc: number, defaults: Options = {}) =>
  <D = NoDetails>(text: string | ((details: D) => string), options: Options = {}): Entry<D> => ({
    http,
    grpc,
    shape: 'error',
    text: typeof text === 'string' ? () => text : text,
    ...defaults,
    ...options,
  })

/** Creates an entry with status 400. */
export const badRequest = kind(400, status.INVALID_ARGUMENT)
/** Creates an entry with status 401. Its text goes to `WWW-Authenticate` and to the log. */
export const unauthenticated = kind(401, status.UNAUTHENTICATED, { shape: 'text' })
/** Creates an entry with status 403. */
export const forbidden = kind(403, status.PERMISSION_DENIED)
/** Creates an entry with status 409. */
export const conflict = kind(409, status.ALREADY_EXISTS)
/** Creates an entry with status 429. */
export const tooMany = kind(429, status.RESOURCE_EXHAUSTED, { shape: 'success' })
/** Creates an entry with status 503. */
export const unavailable = kind(503, status.UNAVAILABLE)

const missing = kind(404, status.NOT_FOUND)
/** Creates the entry (404) for a record that does not exist or belongs to another organization. */
export function notFound(what: string): Entry<NoDetails> {
  return missing(`${what} not found`)
}

/** Creates an entry of the OAuth endpoints: 401 for `invalid_client`, otherwise 400. */
export function oauth<D = NoDetails>(error: OAuthError, text: string | ((details: D) => string)): Entry<D> {
  const create = error === 'invalid_client' ? unauthenticated : badRequest
  return create(text, { shape: 'oauth', oauth: error })
}
