import type { Via } from './options.ts'

/** How the gateway carries a call. Also used for OpenAPI. */
export type Carrier = {
  /** Encoding of the body, if there is one. The rpc of a multipart form takes its file as a stream. */
  body: 'json' | 'form_or_json' | 'multipart' | 'raw'
  /** What is done with the answer: sets or clears the session cookie, forbids caching, or redirects. */
  answer: 'plain' | 'set_session' | 'clear_session' | 'uncached' | 'redirect'
  /** Shape of errors: Rollcall's own, or those of OAuth's token endpoint (RFC 6749) or registration (RFC 7591). */
  problem: 'standard' | 'oauth_token' | 'oauth_registration'
  /** How a public route treats credentials: ignores them, passes a session on, or reads them from the body. */
  credential: 'ignored' | 'session' | 'in_body'
  /** Whether an authenticated POST accepts an Idempotency-Key. */
  acceptsIdempotencyKey: boolean
}

const plain: Carrier = {
  body: 'json',
  answer: 'plain',
  problem: 'standard',
  credential: 'ignored',
  acceptsIdempotencyKey: false,
}

/** The carriers by the names of `rollcall.via`. */
export const carriers: Record<Via, Carrier> = {
  json: { ...plain, acceptsIdempotencyKey: true },
  upload: { ...plain, body: 'multipart', acceptsIdempotencyKey: true },
  sign_in: { ...plain, answer: 'set_session', credential: 'in_body' },
  sign_out: { ...plain, answer: 'clear_session' },
  oauth: { ...plain, body: 'form_or_json', answer: 'uncached', problem: 'oauth_token' },
  oauth_registration: { ...plain, answer: 'uncached', problem: 'oauth_registration' },
  browser: { ...plain, credential: 'session' },
  redirect: { ...plain, answer: 'redirect' },
  page: { ...plain, body: 'raw' },
}
