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

/** Whether the errors of a route have the OAuth form: `{error, error_description}`. */
export function speaksOAuth({ carrier }: Pick<Route, 'carrier'>): boolean {
  return carrier.problem !== 'standard'
}
