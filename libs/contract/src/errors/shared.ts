import { badRequest, conflict, forbidden, notFound, tooMany, unauthenticated, unavailable } from './entry.ts'

/** A limit of an organization, as in "100 domains per organization". */
type Quota = { limit: number; what: string }

/** Refusals that the libraries throw. Any route may answer with them. */
export const sharedErrors = {
  'request.missing_field': badRequest((d: { path: string }) => `missing field -> ${d.path}`),
  'request.extra_field': badRequest((d: { path: string }) => `extra field -> ${d.path}`),
  'request.empty_array': badRequest((d: { path: string }) => `empty array -> ${d.path}`),
  'request.invalid_field': badRequest(
    (d: { path: string; reason?: string }) => `invalid field -> ${d.path}${d.reason ? `: ${d.reason}` : ''}`,
  ),
  'request.not_an_object': badRequest('body must be a JSON object'),
  'request.rate_limited': tooMany((_: { retryAfterSeconds: number }) => 'too many requests, please try again later'),

  'credential.missing': unauthenticated('No credential.'),
  'credential.malformed': unauthenticated('Invalid token format. Expected orgId:secret.'),
  'session.invalid': unauthenticated('Invalid or expired session.'),
  'token.bad_organization': unauthenticated('Invalid token format.'),
  'token.invalid': unauthenticated('Invalid or inactive API token.'),
  'token.creator_missing': unauthenticated('Token creator user not found.'),
  'token.role_missing': unauthenticated('Token role not found.'),
  'account.blocked': forbidden('Account is blocked.'),

  'access.permission_denied': forbidden((d: { permission: string }) => `Permission denied: ${d.permission}`),
  'access.scope_refused': forbidden('A credential limited to a scope cannot do this.'),
  'access.session_required': forbidden('An API token cannot do this.'),
  'access.read_only': forbidden('Impersonation is read-only.', { shape: 'success' }),

  /** A unique index rejected the write. */
  'record.duplicate': conflict((d: { path: string }) => `duplicate -> ${d.path}`),
  /** The organization has reached its limit of stored records of a kind. */
  'quota.exceeded': conflict((d: Quota) => `limit reached: ${d.limit} ${d.what}`),
  /** The organization has too many of a kind pending or in progress. Clears without action. */
  'quota.too_many_pending': tooMany(
    (d: Quota & { retryAfterSeconds: number }) => `limit reached: ${d.limit} ${d.what}`,
  ),

  'service.unavailable': unavailable('service unavailable'),

  // Between services.
  'caller.unverified': unauthenticated('No valid caller assertion.'),
  'caller.issuer_denied': forbidden(
    (d: { issuer: string; kind: string }) => `The service ${d.issuer} may not call this for a ${d.kind}.`,
  ),
  'caller.service_required': forbidden('Only services may call this.'),

  // Fallbacks by gRPC status for codes of a newer release.
  'request.refused': badRequest('invalid request'),
  'credential.refused': unauthenticated('Invalid credential.'),
  'access.refused': forbidden('not allowed'),
  'record.not_found': notFound('record'),
  'record.conflict': conflict('conflict with the state of the record'),
  'quota.refused': tooMany('limit reached'),
}
