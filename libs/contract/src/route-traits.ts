import type { Route } from './routes.ts'

/** Whether a route accepts an Idempotency-Key: an authenticated POST of JSON or a file, with a unary answer. */
export function acceptsIdempotencyKey({
  verb,
  access,
  carrier,
  streams,
}: Pick<Route, 'verb' | 'access' | 'carrier' | 'streams'>): boolean {
  return verb === 'POST' && access.kind !== 'public' && carrier.acceptsIdempotencyKey && !streams
}

/** Whether a PATCH or PUT starts a job instead of setting a state: repeated, it would start another. */
export function startsJob({ verb, rpc }: Pick<Route, 'verb' | 'rpc'>): boolean {
  return ['PATCH', 'PUT'].includes(verb) && rpc.resolvedResponseType!.fullName !== '.rollcall.Updated'
}

/**
 * Whether a route is closed to people who lack a second factor that their organization requires: all but those of the
 * own account, and of signing in and out.
 */
export function needsSecondFactor({ path, access }: Pick<Route, 'path' | 'access'>): boolean {
  return access.kind !== 'public' && !/^\/api\/(me|auth)(\/|$)/.test(path)
}

/** Whether the errors of a route have the OAuth form: `{error, error_description}`. */
export function speaksOAuth({ carrier }: Pick<Route, 'carrier'>): boolean {
  return carrier.problem !== 'standard'
}
