import { AppError } from '@rollcall/contract'
import type { UndoBatchRequest } from '@rollcall/protos/gen/audience-v1.ts'
import type { Actor, Call } from '@rollcall/rpc'
import { insertOf, objectId, untilAllReleased } from '@rollcall/store'
import type { ClientSession, Types } from 'mongoose'
import { castAttributes, type Definitions, pathOf } from '../attributes/attribute-values.ts'
import { alive } from '../attributes/definitions.ts'
import { applyUpdate, type Change, changesOf, fittingPatch, type Patch, updateOf } from '../contacts/changes.ts'
import { type Contact, contactPositions } from '../contacts/contact.model.ts'
import { deleteContacts } from '../contacts/delete-contact.ts'
import type { Data } from '../context.ts'
import { countChanges } from '../growth/count-changes.ts'
import { type ChangeType, changeEntry, type HistoryEntry, type SignUpType } from '../history/history.model.ts'
import { removeMembers } from '../lists/members.ts'
import type { Batch, Undone } from './batch.model.ts'
import { cancelBatch } from './cancel-batch.ts'

/**
 * Undoes a batch, in one transaction. Idempotent: the result is stored with the batch.
 *
 * - Deletes contacts that it created, unless somebody else has changed them or they have signed up by a form since.
 * - Restores fields that still have the value it wrote, if the attribute definitions accept the former value and the
 * contact has room for it.
 * - Ends memberships that it created, unless a form has taken them over.
 * - Keeps an opt-out that somebody else has confirmed, and a contact created with it.
 *
 * Publishes no contact.deleted, as an import publishes no contact.created.
 */
export async function undoBatch(context: Data, request: UndoBatchRequest, { caller, deadline }: Call): Promise<Undone> {
  const { organizationId } = caller
  const undone = await context.store.transaction(tx => undo(context, tx, request, organizationId), {
    timeoutMs: deadline - Date.now(),
    queue: organizationId, // shared with applyBatch
  })
  if (undone.deleted > 0) await untilAllReleased(context.collections.of(organizationId).holds)
  return undone
}

async function undo(
  context: Data,
  tx: ClientSession,
  { jobId, number }: UndoBatchRequest,
  organizationId: string,
): Promise<Undone> {
  const { batches } = context.collections.of(organizationId)
  const job = objectId(jobId, 'jobId')
  await contactPositions(context, organizationId).lockMembership(tx)
  const found = await batches.findOne({ job, number }, { tx })
  const batch = found ?? (await cancelBatch(batches, tx, job, number))
  if (batch.undone) return batch.undone

  const actor: Actor = { kind: 'import', id: String(job), name: 'CSV import undone' }
  const work: Work = { context, tx, organizationId, batch, actor, at: new Date() }
  const deleted = await deleteCreated(work)
  const restored = await restoreUpdated(work)
  const kept = batch.created.length + batch.changed.length - deleted - restored
  const undone = { deleted, restored, kept, removedFromLists: await endMemberships(work) }
  await batches.updateOne({ _id: batch._id }, { $set: { undone } }, { tx })
  return undone
}

type Work = {
  context: Data
  tx: ClientSession
  organizationId: string
  batch: Batch
  actor: Actor
  at: Date
}

async function deleteCreated(work: Work): Promise<number> {
  const { context, tx, organizationId, batch } = work
  const { contacts } = context.collections.of(organizationId)
  const created = await contacts.find({ _id: { $in: batch.created } }, { tx })
  const claimed = await claimedByOthers(work)
  const gone = created.filter(contact => !claimed.has(String(contact._id)) && !isKeptOptOut(contact, batch))
  if (gone.length > 0) await deleteContacts(context, tx, organizationId, gone)
  return gone.length
}

/**
 * Returns the created contacts that somebody else has changed since, or added to a list they are still on, and those who
 * have signed up by a form.
 */
async function claimedByOthers({ context, tx, organizationId, batch }: Work): Promise<Set<string>> {
  const { history, memberships } = context.collections.of(organizationId)
  const made = { $in: batch.created }
  const isOther = ({ id }: Actor) => id !== String(batch.job)
  const projection = { person: 1, kind: 1, type: 1, actor: 1 } as const
  const entries = await history.find({ person: made }, { tx, projection })
  const joined = await memberships.find({ contact: made }, { tx, projection: { contact: 1, addedBy: 1 } })
  const changes = entries.filter(({ kind, type, actor }) => kind === 'change' && isOther(actor) && !ofLists.has(type))
  const undone = new Set(changes.filter(({ type }) => type === 'contact.import_undone').map(workOf))
  const changed = changes.filter(entry => !undone.has(workOf(entry))).map(({ person }) => person)
  const signedUp = entries.filter(({ type }) => signUps.has(type)).map(({ person }) => person)
  const added = joined.filter(({ addedBy }) => isOther(addedBy)).map(({ contact }) => contact)
  return new Set([...changed, ...signedUp, ...added].map(String))
}

/** Types of entries that memberships already account for. */
const ofLists: ReadonlySet<string> = new Set<ChangeType>(['contact.added_to_list', 'contact.removed_from_list'])

/** Types of entries of sign-ups; a mail that somebody has opened or clicked changes nothing. */
const signUps: ReadonlySet<string> = new Set<SignUpType>(['form.submitted', 'form.confirmed'])

/** Identifies who changed whom; an import and its undo have the same actor id. */
function workOf({ person, actor }: Pick<HistoryEntry, 'person' | 'actor'>): string {
  return `${person} ${actor.kind} ${actor.id}`
}

async function restoreUpdated(work: Work): Promise<number> {
  const { context, tx, organizationId, batch, actor, at } = work
  const tenant = context.collections.of(organizationId)
  const { contacts, history } = tenant
  const definitions = await definitionsOf(work)
  const entries = await byId(history.find({ _id: { $in: batch.changed } }, { tx }))
  const current = await byId(contacts.find({ _id: { $in: [...entries.values()].map(({ person }) => person) } }, { tx }))
  const restored = batch.changed.flatMap((id, index) => {
    const entry = entries.get(String(id))
    const before = entry && current.get(String(entry.person))
    if (!before) return []
    const changes = changesOf(before, restoration(before, entry, definitions, batch))
    if (changes.length === 0) return []
    const update = updateOf(before, changes, at)
    const isLastJob = before.importJob?.equals(batch.job) ?? false
    if (isLastJob) update.$set.importJob = batch.formerJobs[index] ?? null
    return [{ before, after: applyUpdate(before, update), update, changes, at }]
  })
  const writes = restored.map(({ before, update }) => ({ updateOne: { filter: { _id: before._id }, update } }))
  await contacts.bulkWrite(writes, { tx })
  await contactPositions(context, organizationId).invalidate(
    tx,
    restored.map(({ before }) => before.position),
  )
  const undoEntries = restored.map(({ before, changes }) =>
    changeEntry(before, 'contact.import_undone', at, actor, { changes, importJob: batch.job }),
  )
  await history.bulkWrite(undoEntries.map(insertOf), { tx })
  await countChanges(tenant, restored, tx)
  return restored.length
}

/** Returns the definitions that existed when the batch was applied: it did not write values of later ones. */
async function definitionsOf({ context, tx, organizationId, batch }: Work): Promise<Definitions> {
  const { attributes } = context.collections.of(organizationId)
  const found = await attributes.find({ ...alive, createdAt: { $lte: batch.at } }, { tx })
  return new Map(found.map(definition => [definition.slug, definition]))
}

/** Returns the patch that restores the fields which still have the values of the batch, as far as their text fits. */
function restoration(contact: Contact, { data }: HistoryEntry, definitions: Definitions, batch: Batch): Patch {
  const patch: Record<string, unknown> = {}
  for (const change of data.changes ?? []) {
    const { key, from, to } = change
    if (key === 'unsubscribed' && isKeptOptOut(contact, batch)) continue
    const isAsLeft = changesOf(contact, { [key]: to } as Patch).length === 0
    if (isAsLeft && isAccepted(change, definitions)) patch[key] = from
    else if (key === 'tags') patch.tags = withoutTags(contact.tags, change)
  }
  return fittingPatch(contact, patch as Patch)
}

/** Whether somebody besides the import has opted the contact out. */
function isKeptOptOut({ unsubscribed, optedOutBy }: Contact, { job }: Batch): boolean {
  return unsubscribed && !optedOutBy?.equals(job)
}

/** Whether the attribute definition accepts the former value, or none. True for other fields. */
export function isAccepted({ key, from }: Pick<Change, 'key' | 'from'>, definitions: Definitions): boolean {
  const prefix = pathOf('')
  if (!key.startsWith(prefix)) return true
  try {
    castAttributes(definitions, { [key.slice(prefix.length)]: from instanceof Date ? from.toISOString() : from })
    return true
  } catch (error) {
    if (error instanceof AppError) return false
    throw error
  }
}

/** Returns the current tags without those that the change added, and with those that it removed. */
export function withoutTags(current: readonly string[], change: Change): string[] {
  const [from, to] = [change.from as string[], change.to as string[]]
  const added = new Set(to.filter(tag => !from.includes(tag)))
  const removed = from.filter(tag => !to.includes(tag))
  return [...new Set([...current.filter(tag => !added.has(tag)), ...removed])]
}

async function endMemberships({ context, tx, organizationId, batch, actor, at }: Work): Promise<number> {
  const { contacts, lists, memberships } = context.collections.of(organizationId)
  const left = await memberships.find({ _id: { $in: batch.joined }, source: { $ne: 'form' } }, { tx })
  let removed = 0
  for (const [id, members] of Map.groupBy(left, ({ list }) => String(list))) {
    const list = await lists.findOne({ _id: id }, { tx })
    if (!list) continue // deleted: a job removes its memberships
    const candidates = await contacts.find({ _id: { $in: members.map(({ contact }) => contact) } }, { tx })
    removed += await removeMembers(context, tx, candidates, { list, actor, at })
  }
  return removed
}

async function byId<T extends { _id: Types.ObjectId }>(records: Promise<T[]>): Promise<Map<string, T>> {
  return new Map((await records).map(record => [String(record._id), record]))
}
