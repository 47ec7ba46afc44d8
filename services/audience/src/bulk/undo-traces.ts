import { addEvents, event, insertOf } from '@rollcall/store'
import type { ClientSession, Types } from 'mongoose'
import type { Attribute } from '../attributes/attribute.model.ts'
import { type Definitions, pathOf } from '../attributes/attribute-values.ts'
import { alive } from '../attributes/definitions.ts'
import { isAccepted, withoutTags } from '../batches/undo-batch.ts'
import { changesOf, fittingPatch, type Patch } from '../contacts/changes.ts'
import { type Contact, contactPositions, publicContact } from '../contacts/contact.model.ts'
import type { Adding, Data } from '../context.ts'
import { countChanges } from '../growth/count-changes.ts'
import { changeEntry } from '../history/history.model.ts'
import { addMembers, isMember, removeMembers } from '../lists/members.ts'
import { type Membership, memberPositions } from '../lists/membership.model.ts'
import { optedOutOf } from '../people/erased-addresses.ts'
import type { StepResult } from './bulk.job.ts'
import type { BulkJob } from './bulk-job.model.ts'
import { type BulkTrace, tracedAt } from './bulk-trace.model.ts'
import { changeFields } from './change-contacts.ts'
import { typedPatches } from './plan-change.ts'

type Undone = StepResult & { cursor: number; matched: number }

/** Undoes the last traces of a job that are not undone yet, in the transaction that stores the cursor. */
export async function undoTraces(data: Adding, tx: ClientSession, job: BulkJob, limit: number): Promise<Undone> {
  const { bulkTraces } = data.collections.of(job.organization)
  const number = { $gt: job.cursor - limit, $lte: job.cursor }
  const traces = await bulkTraces.find({ job: job.undoes, number }, { tx, sort: { number: -1 } })
  const restored = await restoreDeleted(data, tx, job, traces)
  const changed = new Set([...(await undoChanges(data, tx, job, traces)), ...restored.ids])
  return {
    cursor: Math.max(0, job.cursor - limit),
    matched: traces.length,
    changed: changed.size,
    failed: restored.errors.length,
    errors: restored.errors,
    sample: [],
  }
}

/** Undoes changes of contacts that exist. Returns the ids of those that something was restored of. */
async function undoChanges(data: Data, tx: ClientSession, job: BulkJob, traces: readonly BulkTrace[]) {
  const tenant = data.collections.of(job.organization)
  const changed = traces.filter(({ deleted }) => !deleted)
  if (changed.length === 0) return new Set<string>()
  const attributes = await tenant.attributes.find(alive, { tx })
  const found = await tenant.contacts.find({ _id: { $in: changed.map(({ contact }) => contact) } }, { tx })
  const byId = new Map(found.map(contact => [String(contact._id), contact]))
  const planned = changed.flatMap(trace => {
    const contact = byId.get(String(trace.contact))
    if (!contact) return []
    const definitions = definitionsAt(tracedAt(trace), attributes)
    return [{ contact, patches: typedPatches(restoration(contact, trace, definitions)) }]
  })
  const fields = await changeFields(data, tx, job, planned)
  const moved = await undoMoves(data, tx, job, changed)
  return new Set([...fields.keys(), ...moved])
}

/** Returns the definitions that existed when a trace was written: it has no values of later ones. */
function definitionsAt(at: Date, attributes: readonly Attribute[]): Definitions {
  const existed = attributes.filter(({ createdAt }) => createdAt <= at)
  return new Map(existed.map(definition => [definition.slug, definition]))
}

/** Returns the patch that restores the fields that are as the job left them, as far as their text fits. */
function restoration(contact: Contact, { job, changes }: BulkTrace, definitions: Definitions): Patch {
  const patch: Record<string, unknown> = {}
  const isKeptBlock = contact.blocked && !contact.blockedBy?.equals(job)
  for (const change of changes) {
    const { key, from, to } = change
    if (key === 'unsubscribed' && contact.unsubscribed && !contact.optedOutBy?.equals(job)) continue
    const isOfBlock = key === 'blocked' || key === 'blockedReason'
    if (isOfBlock && isKeptBlock && changes.some(each => each.key === 'blocked' && each.to === true)) continue
    const isAsLeft = changesOf(contact, { [key]: to } as Patch).length === 0
    if (isAsLeft && isAccepted(change, definitions)) patch[key] = from
    else if (key === 'tags') patch.tags = withoutTags(contact.tags, change)
  }
  return fittingPatch(contact, patch as Patch)
}

/** Ends memberships that the job created and no form has taken over, and restores those that it ended. Returns the ids of the contacts. */
async function undoMoves(
  data: Data,
  tx: ClientSession,
  { organization, origin: { actor } }: BulkJob,
  traces: readonly BulkTrace[],
): Promise<Set<string>> {
  const { lists, contacts, memberships } = data.collections.of(organization)
  const at = new Date()
  const moved = new Set<string>()
  const joined = traces.flatMap(trace => trace.joined)
  const made = { _id: { $in: joined }, source: { $ne: 'form' } }
  const still = joined.length > 0 ? await memberships.find(made, { tx }) : []
  for (const [id, members] of Map.groupBy(still, ({ list }) => String(list))) {
    const list = await lists.findOne({ _id: id }, { tx })
    if (!list) continue // deleted: a job ends its memberships
    const leaving = await contacts.find({ _id: { $in: members.map(({ contact }) => contact) } }, { tx })
    await removeMembers(data, tx, leaving, { list, actor, at })
    for (const { _id } of leaving) moved.add(String(_id))
  }
  const left = traces.flatMap(({ contact, left }) => left.map(list => ({ contact, list })))
  for (const [id, leavers] of Map.groupBy(left, ({ list }) => String(list))) {
    const list = await lists.findOne({ _id: id }, { tx })
    if (!list || list.archived) continue
    const candidates = await contacts.find({ _id: { $in: leavers.map(({ contact }) => contact) } }, { tx })
    const returning = candidates.filter(contact => !isMember(contact, list._id))
    await addMembers(data, tx, returning, { list, actor, source: 'api', at })
    for (const { _id } of returning) moved.add(String(_id))
  }
  return moved
}

type Deleted = NonNullable<BulkTrace['deleted']> & { at: Date }

/**
 * Brings deleted contacts back as they were, with their history, emails and memberships of lists that still exist. Opts out
 * those whose address had opted out when it was erased. Returns their ids, and an error for each whose address was taken.
 */
async function restoreDeleted(data: Adding, tx: ClientSession, job: BulkJob, traces: readonly BulkTrace[]) {
  const deleted = traces.flatMap(trace => (trace.deleted ? [{ ...trace.deleted, at: tracedAt(trace) }] : []))
  if (deleted.length === 0) return { ids: [], errors: [] }
  const { organization } = job
  const tenant = data.collections.of(organization)
  const { contacts, history, emails, bulkTraces, lists } = tenant
  await contactPositions(data, organization).lockMembership(tx)
  const taken = await takenBy(data, tx, job, deleted)
  const errors = deleted.flatMap(({ contact }) =>
    taken.emails.has(contact.emailKey)
      ? [{ contact: String(contact._id), code: 'record.duplicate', message: 'duplicate -> email' }]
      : [],
  )
  const back = deleted.filter(({ contact }) => !taken.emails.has(contact.emailKey))
  if (back.length === 0) return { ids: [], errors }
  const named = back.flatMap(({ memberships }) => memberships.map(({ list }) => list))
  const existing = await lists.find({ _id: { $in: named } }, { tx, projection: { _id: 1 } })
  const isThere = new Set(existing.map(({ _id }) => String(_id)))
  const attributes = await tenant.attributes.find(alive, { tx })
  const emailKeys = back.map(({ contact }) => contact.emailKey)
  const optedOut = await optedOutOf(data, organization, emailKeys, tx)
  const at = new Date()
  const present = { attributes, isThere, users: taken.users, optedOut, at }
  const restored = back.map(each => restoredContact(each, present))
  await contacts.bulkWrite(restored.map(insertOf), { tx })
  await contactPositions(data, organization).reclaim(
    tx,
    restored.map(({ position }) => position),
  )
  await restoreMemberships(data, tx, job, back, isThere)
  await countChanges(
    tenant,
    restored.map(after => ({ after, at })),
    tx,
  )
  const ids = restored.map(({ _id }) => _id)
  const keep = { $unset: { expiresAt: 1 } }
  await history.updateMany({ person: { $in: ids } }, keep, { tx })
  await emails.updateMany({ contact: { $in: ids } }, keep, { tx })
  await bulkTraces.updateMany({ job: job.undoes, contact: { $in: ids } }, { $set: { deleted: null } }, { tx })
  const { actor } = job.origin
  const entries = restored.map(contact => changeEntry(contact, 'contact.restored', at, actor))
  await history.bulkWrite(entries.map(insertOf), { tx })
  await addEvents(
    tx,
    restored.map(contact =>
      event('contact.restored', contact, { contact: publicContact(contact), actor }, at, job.origin),
    ),
  )
  return { ids: ids.map(String), errors }
}

/** Returns which addresses and accounts other contacts have by now. */
async function takenBy(data: Data, tx: ClientSession, { organization }: BulkJob, deleted: readonly Deleted[]) {
  const { contacts } = data.collections.of(organization)
  const emails = deleted.map(({ contact }) => contact.emailKey)
  const users = deleted.flatMap(({ contact }) => contact.user ?? [])
  const same = await contacts.find({ emailKey: { $in: emails } }, { tx, projection: { emailKey: 1 } })
  const linked = users.length > 0 ? await contacts.find({ user: { $in: users } }, { tx, projection: { user: 1 } }) : []
  return { emails: new Set(same.map(each => each.emailKey)), users: new Set(linked.map(({ user }) => String(user))) }
}

type Present = {
  attributes: readonly Attribute[]
  isThere: ReadonlySet<string>
  users: ReadonlySet<string>
  optedOut: ReadonlySet<string>
  at: Date
}

/**
 * Returns a contact without what is gone: values that no attribute of then accepts, lists that were deleted, an account that
 * is linked elsewhere.
 */
function restoredContact({ contact, at: deletedAt }: Deleted, present: Present): Contact {
  const { isThere, users, optedOut, at } = present
  const definitions = definitionsAt(deletedAt, present.attributes)
  const values = Object.entries(contact.attributes)
  const attributes = values.filter(([slug, from]) => isAccepted({ key: pathOf(slug), from }, definitions))
  const lists = contact.lists?.filter(list => isThere.has(String(list)))
  return {
    ...contact,
    attributes: Object.fromEntries(attributes),
    user: contact.user && users.has(String(contact.user)) ? null : contact.user,
    ...(lists && { lists }),
    ...(!contact.unsubscribed && optedOut.has(contact.emailKey) && { unsubscribed: true, unsubscribedAt: at }),
  }
}

async function restoreMemberships(
  data: Data,
  tx: ClientSession,
  { organization }: BulkJob,
  back: readonly Deleted[],
  isThere: ReadonlySet<string>,
): Promise<void> {
  const { memberships } = data.collections.of(organization)
  const kept: Membership[] = back.flatMap(each => each.memberships).filter(({ list }) => isThere.has(String(list)))
  await memberships.bulkWrite(kept.map(insertOf), { tx })
  for (const members of Map.groupBy(kept, ({ list }) => String(list)).values()) {
    const list: Types.ObjectId = members[0]!.list
    await memberPositions(data, organization, list).reclaim(
      tx,
      members.map(({ position }) => position),
    )
  }
}
