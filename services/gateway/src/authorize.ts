import { AppError } from '@rollcall/contract'
import type { CredentialSource } from '@rollcall/credentials'
import { authorize } from '@rollcall/rpc'
import type { Authenticated, Authorized, Exchange } from './exchange.ts'

const changesNothing = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Checks that the route exists and that the caller has the permission that it declares. Browsers attach cookies to
 * requests that other sites cause, so a change by cookie must come from a page of the same origin, or of a console.
 * @throws {AppError} route.not_found, access.*
 */
export function guard(exchange: Authenticated): Authorized {
  const { match, caller, claim } = exchange
  if (!match) throw new AppError('route.not_found')
  if (claim.kind === 'credential' && isForgeable(exchange, claim.source)) {
    throw new AppError('access.cross_origin')
  }
  authorize(match.route.access, match.route.verb, caller)
  return Object.assign(exchange, { match })
}

/** Whether another site could have caused this change with the cookies of the browser (CSRF). */
export function isForgeable({ request, consoleOrigins }: Exchange, source: CredentialSource): boolean {
  if (source !== 'cookie' || changesNothing.has(request.method)) return false
  return !isSameOrigin(request) && !consoleOrigins.has(request.headers.origin ?? '')
}

/** Goes by headers that browsers set and pages cannot. Old browsers do not send Sec-Fetch-Site. */
function isSameOrigin(request: Exchange['request']): boolean {
  const site = request.headers['sec-fetch-site']
  if (site !== undefined) return site === 'same-origin'
  return request.headers.origin?.toLowerCase() === `${request.protocol}://${request.host}`.toLowerCase()
}
