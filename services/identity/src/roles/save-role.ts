import { isDeepStrictEqual } from 'node:util'
import { AppError, type HttpBody, json } from '@rollcall/contract'
import type { SaveRoleRequest } from '@rollcall/protos/gen/identity-v1.ts'
import type { Caller } from '@rollcall/rpc'
import { isDuplicate } from '@rollcall/store'
import type { ClientSession } from 'mongoose'
import type { Context } from '../context.ts'
import { publish } from '../events.ts'
import { keepQuota } from '../organizations/quotas.ts'
import { resemblesBuiltIn } from './built-in.ts'
import { type Grants, parseGrants, permissionsOf, refuseExcess } from './permissions.ts'
import { recordAffected } from './record-affected.ts'
import { presentRole, type Role } from './role.model.ts'

type Wanted = { name: string; kind: 'api' | 'user'; permissions: Grants; description?: string }
type Saved = { role: Role; affected: { tokens: number; members: number } }

/**
 * Creates a role or updates the one with this name; new permissions apply immediately. The caller needs all permissions
 * that the role grants, before and after the change.
 */
export async function saveRole(context: Context, request: SaveRoleRequest, caller: Caller): Promise<HttpBody> {
  if (resemblesBuiltIn(request.name)) throw new AppError('role.name_reserved')
  const wanted = { ...request, permissions: parseGrants(request.permissions) }
  refuseExcess(permissionsOf(wanted.permissions), caller.permissions)
  const { role, affected } = await context.credentials.change({ organizationId: caller.organizationId }, timeoutMs =>
    saveNamed(context, wanted, caller, Date.now() + timeoutMs),
  )
  return json({ ...presentRole(role), affected })
}

/** Saves the role by name. On a duplicate from a concurrent request, retries as an update. */
async function saveNamed(context: Context, wanted: Wanted, caller: Caller, deadline: number): Promise<Saved> {
  const { roles } = context.collections.of(caller.organizationId)
  try {
    const save = (tx: ClientSession) => saveWithin(context, wanted, caller, tx)
    return await context.store.transaction(save, { timeoutMs: deadline - Date.now() })
  } catch (error) {
    if (!isDuplicate(error)) throw error
    const taken = await roles.findOne({ name: wanted.name })
    if (taken && taken.kind !== wanted.kind) {
      throw new AppError('role.other_kind', { name: wanted.name, kind: taken.kind })
    }
    return saveNamed(context, wanted, caller, deadline)
  }
}

async function saveWithin(context: Context, wanted: Wanted, caller: Caller, tx: ClientSession): Promise<Saved> {
  const { roles } = context.collections.of(caller.organizationId)
  const { name, kind, ...changes } = wanted
  const before = await roles.findOne({ name, kind }, { tx })
  if (before) refuseExcess(permissionsOf(before.permissions), caller.permissions)
  if (!before) await keepQuota(context, caller.organizationId, 'roles', tx)
  const role = before
    ? (await roles.findOneAndUpdate({ _id: before._id }, { $set: changes }, { tx }))!
    : await roles.insertOne(wanted, { tx })
  const changed = before && !isDeepStrictEqual(before.permissions, changes.permissions)
  if (changed) {
    const change = { type: 'role.saved', before: before.permissions, after: changes.permissions } as const
    await recordAffected(context, role, change, caller, tx)
  }
  const affected = {
    tokens: changed ? before.tokenCount : 0,
    members: changed ? before.memberCount + (before.membershipCount ?? 0) : 0,
  }
  const data = {
    role: presentRole(role),
    affectedTokens: affected.tokens,
    affectedMembers: affected.members,
  }
  await publish(context, caller, 'role.saved', { organization: role.organization, subject: role._id, data }, tx)
  return { role, affected }
}
