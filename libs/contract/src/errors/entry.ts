import { status } from '@grpc/grpc-js'

/** Shape of a refusal's body: `{error: true, …}`, `{success: false, …}`, plain text, or OAuth's `{error, error_description}`. */
export type Shape = 'error' | 'success' | 'text' | 'oauth'

/** Error codes of OAuth: RFC 6749 5.2, RFC 8693 2.2.2 and RFC 7591 3.2.2. */
export type OAuthError =
  | 'invalid_request'
  | 'invalid_client'
  | 'unsupported_grant_type'
  | 'invalid_scope'
  | 'invalid_target'
  | 'invalid_redirect_uri'
  | 'invalid_client_metadata'

/** Details of a refusal whose text never varies. */
export type NoDetails = Record<string, never>

/** One refusal of the catalogue. */
export type Entry<D> = {
  http: number
  grpc: number
  shape: Shape
  /** The public text. */
  text: (details: D) => string
  /** The field at fault, where it is always the same one. Otherwise `details.path` names it. */
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

/** Makes an entry of status 400. */
export const badRequest = kind(400, status.INVALID_ARGUMENT)
/** Makes an entry of status 401. Its text goes to `WWW-Authenticate` and to the log. */
export const unauthenticated = kind(401, status.UNAUTHENTICATED, { shape: 'text' })
/** Makes an entry of status 403. */
export const forbidden = kind(403, status.PERMISSION_DENIED)
/** Makes an entry of status 409. */
export const conflict = kind(409, status.ALREADY_EXISTS)
/** Makes an entry of status 429. */
export const tooMany = kind(429, status.RESOURCE_EXHAUSTED, { shape: 'success' })
/** Makes an entry of status 503. */
export const unavailable = kind(503, status.UNAVAILABLE)

const missing = kind(404, status.NOT_FOUND)
/** Makes the entry of a record that does not exist, or belongs to another organization. */
export const notFound = (what: string): Entry<NoDetails> => missing(`${what} not found`)

/** Makes an entry of the OAuth endpoints. */
export const oauth = <D = NoDetails>(error: OAuthError, text: string | ((details: D) => string)): Entry<D> =>
  (error === 'invalid_client' ? unauthenticated : badRequest)(text, { shape: 'oauth', oauth: error })
