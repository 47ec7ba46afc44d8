import { type Access, AppError, type Permission, type RequiredScope } from '@rollcall/contract'
import type { Caller } from './caller.ts'

/**
 * Refuses a caller that may not use a route. The gateway checks before it reads the body. The service checks again, so
 * an internal caller has no more rights than the caller it acts for.
 * @param access access of the route; undefined for an internal rpc, whose callers `issuers.ts` declares
 * @throws {AppError} credential.missing, access.permission_denied, access.scope_refused, access.session_required,
 * access.read_only
 */
export function authorize(access: Access | undefined, verb: string | undefined, caller: Caller): void {
  if (!access || access.kind === 'public') return
  if (caller.kind === 'anonymous') throw new AppError('credential.missing')
  if (caller.readOnly && verb !== 'GET') throw new AppError('access.read_only')
  if (access.kind === 'caller') requireScope(access.scope, caller)
  if (access.kind === 'caller' && access.sessionOnly && caller.kind === 'token')
    throw new AppError('access.session_required')
  if (access.kind !== 'permission') return
  requirePermission(caller, `${access.resource}.${access.action}`)
  if (access.also) requirePermission(caller, access.also)
}

/** Refuses a caller without a permission that only some requests need. @throws {AppError} access.permission_denied */
export function requirePermission(caller: Caller, permission: Permission): void {
  if (!hasPermission(caller, permission)) throw new AppError('access.permission_denied', { permission })
}

/** Whether a caller has a permission without which an answer leaves something out. */
export function hasPermission({ permissions }: Caller, permission: Permission): boolean {
  return permissions === '*' || permissions.includes(permission)
}

/** Refuses a scoped credential. Routes with a permission need no check: the scope already limits the permissions. */
function requireScope(required: RequiredScope, { scope }: Caller): void {
  if (scope === undefined || required === 'any') return
  if (required === 'none') throw new AppError('access.scope_refused')
  if (!scope.includes(required)) throw new AppError('access.permission_denied', { permission: required })
}
