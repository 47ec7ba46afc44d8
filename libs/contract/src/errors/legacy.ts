import { badRequest, conflict, forbidden, oauth, unauthenticated } from './entry.ts'

type Message = { message: string; path?: string }
const text = (d: Message) => d.message
const success = { shape: 'success' } as const

export const legacyErrors = {
  bad_request: badRequest(text),
  refused: badRequest(text, success),
  unauthenticated: unauthenticated(text),
  forbidden: forbidden(text),
  not_allowed: forbidden(text, success),
  conflict: conflict(text),
  invalid_request: oauth('invalid_request', text),
  invalid_client: oauth('invalid_client', text),
  unsupported_grant_type: oauth('unsupported_grant_type', text),
  invalid_scope: oauth('invalid_scope', text),
  invalid_target: oauth('invalid_target', text),
  invalid_redirect_uri: oauth('invalid_redirect_uri', text),
  invalid_client_metadata: oauth('invalid_client_metadata', text),
}
