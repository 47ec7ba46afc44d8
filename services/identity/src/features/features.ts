import { AppError, type HttpBody, json, updated } from '@rollcall/contract'
import type { CreateFeatureRequest, UpdateFeatureRequest } from '@rollcall/protos/gen/identity-v1.ts'
import type { ListRequest, Updated } from '@rollcall/protos/gen/types.ts'
import { actorOf, type Caller, type Handlers } from '@rollcall/rpc'
import { changedFields, changesBetween, runList, type Scope } from '@rollcall/store'
import type { ClientSession } from 'mongoose'
import type { Context } from '../context.ts'
import { publish } from '../events.ts'
import { keepQuota } from '../organizations/quotas.ts'
import type { Role } from '../roles/role.model.ts'
import { featureFields, presentFeature, type RoleSwitch, showSwitches } from './feature.model.ts'

/** Slugs are used in database paths, so they contain no special characters. */
const SLUG_SHAPE = /^[a-z][a-z0-9_-]{0,39}$/

/** Filter for the roles that can switch a feature. */
const forMembers = { kind: { $in: ['user', 'both'] } }

/** Handlers for feature flags. */
export const features = (context: Context): Handlers<'rollcall.identity.v1.Features'> => ({
  listFeatures: (request, { caller }) => listFeatures(context, request, caller),

  createFeature: (request, { caller }) => createFeature(context, request, caller),

  async getFeature({ id }, { caller }) {
    return json(presentFeature(await context.collections.of(caller.organizationId).features.get(id, 'feature')))
  },

  async updateFeature(request, { caller }): Promise<Updated> {
    await context.store.transaction(tx => updateWithin(context, request, caller, tx))
    return updated()
  },

  deleteFeature: ({ id }, { caller }) => context.store.transaction(tx => deleteWithin(context, id, caller, tx)),
})

async function listFeatures(context: Context, { list }: ListRequest, caller: Caller) {
  const { features: scope, roles } = context.collections.of(caller.organizationId)
  const query = list ?? {}
  const isPlain = !(query.filter || query.sort || query.projection) // no fields named, so no roles needed
  const fields = featureFields(isPlain ? [] : await roles.find(forMembers, { projection: { name: 1 } }))
  const stages = isPlain ? [] : [showSwitches]
  return runList({ scope, stages, query, fields, present: presentFeature })
}

function createFeature(context: Context, request: CreateFeatureRequest, caller: Caller): Promise<HttpBody> {
  const { slug, name = slug, description = '', default: byDefault = false } = request
  if (!SLUG_SHAPE.test(slug)) {
    const reason = 'has lower-case letters, digits, _ and -, beginning with a letter'
    throw new AppError('request.invalid_field', { path: 'slug', reason })
  }
  const tenant = context.collections.of(caller.organizationId)
  return context.store.transaction(async tx => {
    const roles = await roleSwitches(tenant.roles, [], request.roles, tx)
    await keepQuota(context, caller.organizationId, 'features', tx)
    const feature = await tenant.features.insertOne(
      { slug, name, description, default: byDefault, roles, createdBy: actorOf(caller) },
      { tx },
    )
    const record = presentFeature(feature)
    const { organization, _id: subject } = feature
    await publish(context, caller, 'feature.created', { organization, subject, data: { feature: record } }, tx)
    return json(record)
  })
}

async function updateWithin(
  context: Context,
  { id, roles: wanted, ...rest }: UpdateFeatureRequest,
  caller: Caller,
  tx: ClientSession,
): Promise<void> {
  const { features, roles } = context.collections.of(caller.organizationId)
  const before = await features.get(id, 'feature', { tx })
  const set = { ...rest, ...(wanted !== undefined && { roles: await roleSwitches(roles, before.roles, wanted, tx) }) }
  const changed = changedFields(before, set)
  if (changed.length === 0) return
  await features.updateOne({ _id: before._id }, { $set: set }, { tx })
  const feature = presentFeature(await features.get(id, 'feature', { tx }))
  const { organization, _id: subject } = before
  const data = { feature, changed, changes: changesBetween(changed, presentFeature(before), feature) }
  await publish(context, caller, 'feature.updated', { organization, subject, data }, tx)
}

async function deleteWithin(context: Context, id: string, caller: Caller, tx: ClientSession): Promise<HttpBody> {
  const { features, users, workspaces } = context.collections.of(caller.organizationId)
  const feature = await features.get(id, 'feature', { tx })
  await features.deleteOne({ _id: feature._id }, { tx })
  const path = `features.${feature.slug}`
  await users.updateMany({ [path]: { $exists: true } }, { $unset: { [path]: 1 } }, { tx })
  await workspaces.updateMany({ [path]: { $exists: true } }, { $unset: { [path]: 1 } }, { tx })
  const record = presentFeature(feature)
  const { organization, _id: subject } = feature
  await publish(context, caller, 'feature.deleted', { organization, subject, data: { feature: record } }, tx)
  return json(record)
}

/**
 * Merges the role switches of a request into the existing ones; null removes a switch.
 * @throws {AppError} request.extra_field if no role for members has the name
 */
async function roleSwitches(
  roles: Scope<Role>,
  before: RoleSwitch[],
  request: Record<string, boolean | null> = {},
  tx: ClientSession,
): Promise<RoleSwitch[]> {
  const wanted = Object.entries(request)
  const named = { ...forMembers, name: { $in: wanted.map(([name]) => name) } }
  const ids = new Map((await roles.find(named, { tx })).map(({ name, _id }) => [name, _id]))
  const switches = new Map(before.map(({ name, role, on }) => [name, { role, name, on }]))
  for (const [name, on] of wanted) {
    const role = ids.get(name)
    if (!role) throw new AppError('request.extra_field', { path: `roles.${name}` })
    if (on === null) switches.delete(name)
    else switches.set(name, { role, name, on })
  }
  return [...switches.values()]
}
