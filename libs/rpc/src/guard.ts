import { type Access, AppError, allows } from '@rollcall/contract'
import type { Caller } from './caller.ts'

/**
 * Decides whether a caller may use a route. The gateway asks before it reads the body, the service asks again: an
 * internal caller gets no more than the caller it acts for.
 * @param access what the route declares; undefined for an internal rpc, which any service may call
 * @throws {AppError} forbidden, naming the permission; not_allowed for a change under read-only impersonation
 */
export function authorize(access: Access | undefined, verb: string | undefined, caller: Caller): void {
  if (!access || access.kind === 'public') return
  if (caller.kind === 'anonymous') throw new AppError('unauthenticated', { message: 'No credential.' })
  if (caller.readOnly && verb !== 'GET') throw new AppError('not_allowed', { message: 'Impersonation is read-only.' })
  if (access.kind === 'permission' && !allows(caller.permissions, access.resource, access.action)) {
    throw new AppError('forbidden', { message: `Permission denied: ${access.resource}.${access.action}` })
  }
}
