import { type Access, AppError, type Permission, type RequiredScope } from '@rollcall/contract'
import type { Caller } from './caller.ts'

/**
 * Decides whether a caller may use a route. The gateway asks before it reads the body, the service asks again: an
 * internal caller gets no more than the caller it acts for.
 * @param access what the route declares; undefined for an internal rpc, whose callers `issuers.ts` declares
 * @throws {AppError} forbidden, naming the missing permission or scope; not_allowed for a change under read-only
 * impersonation
 */
export function authorize(access: Access | undefined, verb: string | undefined, caller: Caller): void {
  if (!access || access.kind === 'public') return
  if (caller.kind === 'anonymous') throw new AppError('credential.missing')
  if (caller.readOnly && verb !== 'GET') throw new AppError('access.read_only')
  if (access.kind === 'caller') requireScope(access.scope, caller)
  if (access.kind !== 'permission') return
  requirePermission(caller, `${access.resource}.${access.action}`)
  if (access.also) requirePermission(caller, access.also)
}

/** Refuses a caller without a permission: for what a route needs only with some requests. @throws {AppError} forbidden */
export function requirePermission({ permissions }: Caller, permission: Permission): void {
  if (permissions !== '*' && !permissions.includes(permission))
    throw new AppError('access.permission_denied', { permission })
}

/** A scope limits a credential on every route; routes behind a permission have it in the caller's permissions. */
function requireScope(required: RequiredScope, { scope }: Caller): void {
  if (scope === undefined || required === 'any') return
  if (required === 'none') throw new AppError('access.scope_refused')
  if (!scope.includes(required)) throw new AppError('access.permission_denied', { permission: required })
}
