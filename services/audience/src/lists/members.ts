import type { Actor } from '@rollcall/rpc'
import { addEvents, insertOf } from '@rollcall/store'
import { type ClientSession, Types } from 'mongoose'
import { type Contact, contactPositions } from '../contacts/contact.model.ts'
import type { Data } from '../context.ts'
import { countChanges } from '../growth/count-changes.ts'
import { joinedEntry, leftEntry } from '../history/history.model.ts'
import type { AudienceList } from './list.model.ts'
import { addedToListEvent, removedFromListEvent } from './list-events.ts'
import { type Membership, type MembershipSource, memberPositions } from './membership.model.ts'

/** The fields of a contact that joining and leaving need, read in the same transaction. */
export type Candidate = Pick<Contact, '_id' | 'lists' | 'blocked' | 'unsubscribed' | 'position'>

/** The projection that reads a candidate. */
export const candidateFields = { lists: 1, blocked: 1, unsubscribed: 1, position: 1 } as const

/** How contacts come to a list. */
export type Arrival = { list: AudienceList; actor: Actor; source: MembershipSource; at: Date }

/**
 * Adds contacts to a list, in the given transaction: memberships, the list ids of the contacts, counts, history and events.
 * Skips members. Returns the memberships created.
 */
export async function addMembers(
  data: Data,
  tx: ClientSession,
  candidates: readonly Candidate[],
  arrival: Arrival,
): Promise<Membership[]> {
  const tenant = data.collections.of(arrival.list.organization)
  const { contacts } = tenant
  const listId = arrival.list._id
  const newcomers = candidates.filter(candidate => !isMember(candidate, listId))
  if (newcomers.length === 0) return []
  const { at } = arrival
  const joined = (before: Candidate) => ({ ...before, lists: [...(before.lists ?? []), listId] })
  await countChanges(
    tenant,
    newcomers.map(before => ({ before, after: joined(before), at })),
    tx,
  )
  const memberships = await writeMemberships(data, tx, newcomers, arrival)
  const addList = { $addToSet: { lists: listId } }
  await contacts.updateMany({ _id: { $in: idsOf(newcomers) } }, addList, { tx, timestamps: false })
  // Contacts can be filtered by their lists.
  await contactPositions(data, contacts.organization).invalidate(
    tx,
    newcomers.map(({ position }) => position),
  )
  return memberships
}

/** Writes memberships with history and events, without list ids and counts: for contacts created with their lists. */
export async function writeMemberships(
  data: Data,
  tx: ClientSession,
  newcomers: readonly Pick<Contact, '_id'>[],
  { list, actor, source, at }: Arrival,
): Promise<Membership[]> {
  if (newcomers.length === 0) return []
  const organization = list.organization
  const { memberships, history } = data.collections.of(list.organization)
  const { first } = await memberPositions(data, organization, list._id).take(tx, newcomers.length)
  const made = newcomers.map(
    ({ _id: contact }, index): Membership => ({
      _id: new Types.ObjectId(),
      organization,
      list: list._id,
      contact,
      position: first + index,
      addedAt: at,
      addedBy: actor,
      source,
    }),
  )
  await memberships.bulkWrite(made.map(insertOf), { tx })
  // An import defers the entries of its memberships: see history.
  if (source !== 'import')
    await history.bulkWrite(
      made.map(each => insertOf(joinedEntry(each, list))),
      { tx },
    )
  await addEvents(tx, made.map(addedToListEvent))
  return made
}

/** Makes an existing membership belong to its new source. Undoing the import or bulk job that created it then keeps it. */
export async function takeOverMembership(
  data: Data,
  tx: ClientSession,
  { _id: contact }: Pick<Contact, '_id'>,
  { list, actor: addedBy, source }: Arrival,
): Promise<void> {
  const { memberships, history } = data.collections.of(list.organization)
  const found = await memberships.findOne({ contact, list: list._id }, { tx })
  if (!found || found.source === source) return
  // Writes the deferred entry of an import's membership, which cannot be derived afterwards.
  if (found.source === 'import') await history.bulkWrite([joinedOnce(found, list)], { tx })
  await memberships.updateOne({ _id: found._id }, { $set: { source, addedBy } }, { tx })
}

/** Removes contacts from a list, with history and events; skips those who are not on it. Returns how many were removed. */
export async function removeMembers(
  data: Data,
  tx: ClientSession,
  candidates: readonly Candidate[],
  { list, actor, at }: Pick<Arrival, 'list' | 'actor' | 'at'>,
): Promise<number> {
  const tenant = data.collections.of(list.organization)
  const leaving = candidates.filter(candidate => isMember(candidate, list._id))
  if (leaving.length === 0) return 0
  const without = (before: Candidate) => before.lists?.filter(each => !each.equals(list._id)) ?? []
  const changes = leaving.map(before => ({ before, after: { ...before, lists: without(before) }, at }))
  await countChanges(tenant, changes, tx)
  const ended = await tenant.memberships.find({ list: list._id, contact: { $in: idsOf(leaving) } }, { tx })
  await endMemberships(data, tx, ended, { list, actor, at })
  await addEvents(
    tx,
    ended.map(each => removedFromListEvent(each, actor, at)),
  )
  return leaving.length
}

/** Ends memberships of one list, with history. The caller updates the list's counts, unless the list is deleted. */
export async function endMemberships(
  data: Data,
  tx: ClientSession,
  ended: readonly Membership[],
  { list, actor, at }: { list: Pick<AudienceList, '_id' | 'name'>; actor: Actor; at: Date },
): Promise<void> {
  if (ended.length === 0) return
  const { contacts, history } = data.collections.of(ended[0]!.organization)
  // Writes the deferred entries of an import's memberships, which cannot be derived afterwards.
  const deferred = ended.filter(({ source }) => source === 'import')
  await history.bulkWrite(
    deferred.map(each => joinedOnce(each, list)),
    { tx },
  )
  await history.bulkWrite(
    ended.map(each => insertOf(leftEntry(each, list, actor, at))),
    { tx },
  )
  await deleteMemberships(data, tx, ended)
  const left = { _id: { $in: ended.map(({ contact }) => contact) } }
  await contacts.updateMany(left, { $pull: { lists: list._id } }, { tx, timestamps: false })
  const moved = await contacts.find(left, { tx, projection: { position: 1 }, batchSize: ended.length + 1 })
  await contactPositions(data, contacts.organization).invalidate(
    tx,
    moved.map(({ position }) => position),
  )
}

/** Deletes the memberships of deleted contacts. The caller updates the counts. */
export async function deleteMembershipsOf(
  data: Data,
  tx: ClientSession,
  gone: readonly Pick<Contact, '_id' | 'organization' | 'lists'>[],
): Promise<void> {
  const members = gone.filter(({ lists }) => lists && lists.length > 0)
  if (members.length === 0) return
  const { memberships } = data.collections.of(members[0]!.organization)
  const ended = await memberships.find({ contact: { $in: idsOf(members) } }, { tx })
  await deleteMemberships(data, tx, ended)
}

/** Deletes memberships and releases their positions. */
export async function deleteMemberships(data: Data, tx: ClientSession, ended: readonly Membership[]): Promise<void> {
  if (ended.length === 0) return
  const organization = ended[0]!.organization
  const { memberships } = data.collections.of(ended[0]!.organization)
  await memberships.deleteMany({ _id: { $in: idsOf(ended) } }, { tx })
  for (const [list, left] of Map.groupBy(ended, ({ list }) => String(list))) {
    const freed = left.map(({ position }) => position)
    await memberPositions(data, organization, new Types.ObjectId(list)).release(tx, freed)
  }
}

/** Returns the write that inserts the entry of joining, unless it exists. */
export function joinedOnce(membership: Membership, list: Pick<AudienceList, '_id' | 'name'>) {
  const { _id, organization: _organization, ...entry } = joinedEntry(membership, list)
  return { updateOne: { filter: { _id }, update: { $setOnInsert: entry }, upsert: true } }
}

/** Whether a contact is on a list. */
export function isMember({ lists }: Pick<Contact, 'lists'>, list: Types.ObjectId): boolean {
  return lists?.some(each => each.equals(list)) ?? false
}

function idsOf(records: readonly { _id: Types.ObjectId }[]): Types.ObjectId[] {
  return records.map(({ _id }) => _id)
}
