import type { Route } from './routes.ts'

/** Whether a route takes an Idempotency-Key: an authenticated POST with a JSON body or a file, and one answer. */
export function acceptsIdempotencyKey({
  verb,
  access,
  carrier,
  streams,
}: Pick<Route, 'verb' | 'access' | 'carrier' | 'streams'>): boolean {
  return verb === 'POST' && access.kind !== 'public' && carrier.repeatable && !streams
}

/** Whether a route is answers refusals as OAuth does: `{error, error_description}`. */
export function speaksOAuth({ carrier }: Pick<Route, 'carrier'>): boolean {
  return carrier.problem !== 'standard'
}
