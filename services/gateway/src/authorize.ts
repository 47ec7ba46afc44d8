import { AppError } from '@rollcall/contract'
import type { CredentialSource } from '@rollcall/credentials'
import { authorize } from '@rollcall/rpc'
import type { Request } from 'express'
import type { Authenticated, Authorized } from './exchange.ts'

const changesNothing = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Decides whether the caller may go on: to a route that exists, by the permission that it declares. A browser attaches
 * cookies to what other sites make it send, so a change by cookie has to come from a page of this very origin.
 */
export function guard(exchange: Authenticated): Authorized {
  const { request, match, caller, claim } = exchange
  if (!match) throw new AppError('route.not_found')
  if (claim.kind === 'credential' && isForgeable(request, claim.source)) {
    throw new AppError('access.cross_origin')
  }
  authorize(match.route.access, match.route.verb, caller)
  return Object.assign(exchange, { match })
}

/** Whether another site could have made the browser send this change with its cookies. */
export function isForgeable(request: Request, source: CredentialSource): boolean {
  return source === 'cookie' && !changesNothing.has(request.method) && !isSameOrigin(request)
}

/** Browsers write these headers, pages cannot. Only old ones leave Sec-Fetch-Site out. */
function isSameOrigin(request: Request): boolean {
  const site = request.headers['sec-fetch-site']
  if (site !== undefined) return site === 'same-origin'
  return request.headers.origin?.toLowerCase() === `${request.protocol}://${request.host}`.toLowerCase()
}
