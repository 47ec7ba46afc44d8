import { isDeepStrictEqual } from 'node:util'
import { AppError, type HttpBody, json } from '@rollcall/contract'
import type { SaveRoleRequest } from '@rollcall/protos/gen/identity-v1.ts'
import type { Caller } from '@rollcall/rpc'
import { changedFields, changesBetween, isDuplicate } from '@rollcall/store'
import type { ClientSession } from 'mongoose'
import type { Context } from '../context.ts'
import { publish } from '../events.ts'
import { keepQuota } from '../organizations/quotas.ts'
import { roleQueue } from '../users/member-role.ts'
import { type AffectedNames, namesOfAffected } from './affected-names.ts'
import { resemblesBuiltIn } from './built-in.ts'
import { excessOf, type Grants, parseGrants, permissionsOf, refuseExcess } from './permissions.ts'
import { recordAffected } from './record-affected.ts'
import { presentRole, type Role } from './role.model.ts'

const DRY_RUN_MS = 5000

/** Runs a transaction: for good, or as a rehearsal. */
type Run = (save: (tx: ClientSession) => Promise<Saved>, timeoutMs: number) => Promise<Saved>
type Wanted = { name: string; kind: 'api' | 'user'; permissions: Grants; description?: string }
type Saved = { role: Role } & Effect
/** What a save changes for those who have the role. */
type Effect = {
  affected: { tokens: number; members: number }
  gained: string[]
  lost: string[]
  affectedNames: AffectedNames
}

/**
 * Creates a role or updates the one with this name; new permissions apply immediately. The caller needs all permissions
 * that the role grants, before and after the change. A dry run is the same transaction, rolled back.
 */
export async function saveRole(context: Context, request: SaveRoleRequest, caller: Caller): Promise<HttpBody> {
  if (resemblesBuiltIn(request.name)) throw new AppError('role.name_reserved')
  const { dryRun = false, ...fields } = request
  const wanted = { ...fields, permissions: parseGrants(request.permissions) }
  refuseExcess(permissionsOf(wanted.permissions), caller.permissions)
  const { role, ...effect } = dryRun
    ? await saveNamed(context, wanted, caller, (save, timeoutMs) => rehearse(context, save, timeoutMs), DRY_RUN_MS)
    : await context.credentials.change({ organizationId: caller.organizationId }, timeoutMs =>
        saveNamed(
          context,
          wanted,
          caller,
          (save, timeoutMs) => context.store.transaction(save, { timeoutMs, ...roleQueue(caller.organizationId) }),
          timeoutMs,
        ),
      )
  return json({ ...presentRole(role), ...effect })
}

/** Runs a transaction and rolls it back. Returns its result. */
async function rehearse<T>({ store }: Context, work: (tx: ClientSession) => Promise<T>, timeoutMs: number): Promise<T> {
  const rehearsed: T[] = []
  const rollback = new AppError('service.unavailable', {}, { cause: new Error('rolled back') })
  const failAtEnd = async (tx: ClientSession) => {
    rehearsed.push(await work(tx))
    throw rollback
  }
  await store.transaction(failAtEnd, { timeoutMs }).catch(error => {
    if (error !== rollback) throw error
  })
  return rehearsed.at(-1)!
}

/** Saves the role by name. On a duplicate from a concurrent request, retries as an update. */
async function saveNamed(
  context: Context,
  wanted: Wanted,
  caller: Caller,
  run: Run,
  timeoutMs: number,
): Promise<Saved> {
  const { roles } = context.collections.of(caller.organizationId)
  const deadline = Date.now() + timeoutMs
  try {
    return await run(tx => saveWithin(context, wanted, caller, tx), timeoutMs)
  } catch (error) {
    if (!isDuplicate(error)) throw error
    const taken = await roles.findOne({ name: wanted.name })
    if (taken && taken.kind !== wanted.kind) {
      throw new AppError('role.other_kind', { name: wanted.name, kind: taken.kind })
    }
    return saveNamed(context, wanted, caller, run, deadline - Date.now())
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
  const [held, granted] = [permissionsOf(before?.permissions ?? {}), permissionsOf(changes.permissions)]
  const affectedNames = changed ? await namesOfAffected(context, role, caller, tx) : { tokens: [], members: [] }
  const shown = presentRole(role)
  const data = {
    role: shown,
    affectedTokens: affected.tokens,
    affectedMembers: affected.members,
    ...(before && { changes: changesBetween(changedFields(before, changes), presentRole(before), shown) }),
  }
  await publish(context, caller, 'role.saved', { organization: role.organization, subject: role._id, data }, tx)
  return { role, affected, gained: excessOf(granted, held), lost: excessOf(held, granted), affectedNames }
}
