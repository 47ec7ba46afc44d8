import type { Actor } from '@rollcall/rpc'
import { addEvents, insertOf } from '@rollcall/store'
import { type ClientSession, Types } from 'mongoose'
import type { Contact } from '../contacts/contact.model.ts'
import type { Data } from '../context.ts'
import { joinedEntry, leftEntry } from '../history/history.model.ts'
import type { AudienceList } from './list.model.ts'
import { moveListCounts } from './list-counts.ts'
import { addedToListEvent } from './list-events.ts'
import { type Membership, type MembershipSource, memberPositions } from './membership.model.ts'

/** A contact as joining and leaving have to know it, read in the same transaction. */
export type Candidate = Pick<Contact, '_id' | 'lists' | 'blocked' | 'unsubscribed'>

/** Fields of a contact that make a candidate. */
export const candidateFields = { lists: 1, blocked: 1, unsubscribed: 1 } as const

/** How contacts come to a list. */
export type Arrival = { list: AudienceList; actor: Actor; source: MembershipSource; at: Date }

/**
 * Adds contacts to a list: memberships, the contacts' own note of it, counts, history and one event for each, in the
 * transaction given. Those who are on it already are passed over. Answers the memberships made.
 */
export async function addMembers(
  data: Data,
  tx: ClientSession,
  candidates: readonly Candidate[],
  arrival: Arrival,
): Promise<Membership[]> {
  const { lists, contacts } = data.collections.of(arrival.list.organization)
  const listId = arrival.list._id
  const newcomers = candidates.filter(candidate => !isMember(candidate, listId))
  if (newcomers.length === 0) return []
  const turns = newcomers.map(before => ({ before, after: { ...before, lists: [...(before.lists ?? []), listId] } }))
  await moveListCounts(lists, turns, tx) // first: what meets another change of the list finds out here
  const memberships = await writeMemberships(data, tx, newcomers, arrival)
  const note = { $addToSet: { lists: listId } }
  await contacts.updateMany({ _id: { $in: idsOf(newcomers) } }, note, { tx, timestamps: false })
  return memberships
}

/** The memberships of contacts that are noted and counted otherwise: those made together with their lists. */
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
  // An import writes no entries for what follows from the memberships: see history.
  if (source !== 'import')
    await history.bulkWrite(
      made.map(each => insertOf(joinedEntry(each, list))),
      { tx },
    )
  await addEvents(tx, made.map(addedToListEvent))
  return made
}

/** Takes contacts from a list; those who are not on it are passed over. Answers how many left. */
export async function removeMembers(
  data: Data,
  tx: ClientSession,
  candidates: readonly Candidate[],
  { list, actor, at }: Pick<Arrival, 'list' | 'actor' | 'at'>,
): Promise<number> {
  const { lists, memberships } = data.collections.of(list.organization)
  const leaving = candidates.filter(candidate => isMember(candidate, list._id))
  if (leaving.length === 0) return 0
  const without = (before: Candidate) => before.lists?.filter(each => !each.equals(list._id)) ?? []
  const turns = leaving.map(before => ({ before, after: { ...before, lists: without(before) } }))
  await moveListCounts(lists, turns, tx)
  const ended = await memberships.find({ list: list._id, contact: { $in: idsOf(leaving) } }, { tx })
  await endMemberships(data, tx, ended, { list, actor, at })
  return leaving.length
}

/** Ends memberships of one list, with history; the list's counts are moved elsewhere, or it is gone. */
export async function endMemberships(
  data: Data,
  tx: ClientSession,
  ended: readonly Membership[],
  { list, actor, at }: { list: Pick<AudienceList, '_id' | 'name'>; actor: Actor; at: Date },
): Promise<void> {
  if (ended.length === 0) return
  const { contacts, history } = data.collections.of(ended[0]!.organization)
  // What an import made has no entry yet, and afterwards nothing tells of it.
  const unwritten = ended.filter(({ source }) => source === 'import')
  await history.bulkWrite(
    unwritten.map(each => joinedOnce(each, list)),
    { tx },
  )
  await history.bulkWrite(
    ended.map(each => insertOf(leftEntry(each, list, actor, at))),
    { tx },
  )
  await deleteMemberships(data, tx, ended)
  const left = { _id: { $in: ended.map(({ contact }) => contact) } }
  await contacts.updateMany(left, { $pull: { lists: list._id } }, { tx, timestamps: false })
}

/** Deletes the memberships of contacts that are deleted themselves; counts are moved with the contacts. */
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

/** Deletes memberships and gives back their places. */
export async function deleteMemberships(data: Data, tx: ClientSession, ended: readonly Membership[]): Promise<void> {
  if (ended.length === 0) return
  const organization = ended[0]!.organization
  const { memberships } = data.collections.of(ended[0]!.organization)
  await memberships.deleteMany({ _id: { $in: idsOf(ended) } }, { tx })
  for (const [list, left] of Map.groupBy(ended, ({ list }) => String(list))) {
    const places = left.map(({ position }) => position)
    await memberPositions(data, organization, new Types.ObjectId(list)).release(tx, places)
  }
}

/** The write that makes an import's entry of a membership, unless it is there. */
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
