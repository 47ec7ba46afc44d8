import type { Via } from './options.ts'

/** What carrying a call means: the gateway and the API's description go by it. */
export type Carrier = {
  /** How the body of a route that has one arrives. The rpc of a multipart form takes its file as a stream. */
  body: 'json' | 'form_or_json' | 'multipart'
  /** What happens to the answer besides being sent: the session cookie is set or cleared, caches of old are told off. */
  answer: 'plain' | 'set_session' | 'clear_session' | 'uncached' | 'redirect'
  /** The shape of errors: Rollcall's own, or those of OAuth's token endpoint (RFC 6749) and registration (RFC 7591). */
  problem: 'standard' | 'oauth_token' | 'oauth_registration'
  /** What a public route does with credentials: ignores them, passes a session on, or takes them from the body. */
  credential: 'ignored' | 'session' | 'in_body'
  /** Whether an authenticated POST takes an Idempotency-Key. */
  repeatable: boolean
}

const plain: Carrier = {
  body: 'json',
  answer: 'plain',
  problem: 'standard',
  credential: 'ignored',
  repeatable: false,
}

/** The carriers by the names that `rollcall.via` gives them. */
export const carriers: Record<Via, Carrier> = {
  json: { ...plain, repeatable: true },
  upload: { ...plain, body: 'multipart', repeatable: true },
  sign_in: { ...plain, answer: 'set_session', credential: 'in_body' },
  sign_out: { ...plain, answer: 'clear_session' },
  oauth: { ...plain, body: 'form_or_json', answer: 'uncached', problem: 'oauth_token' },
  oauth_registration: { ...plain, answer: 'uncached', problem: 'oauth_registration' },
  browser: { ...plain, credential: 'session' },
  redirect: { ...plain, answer: 'redirect' },
}
