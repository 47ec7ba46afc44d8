import type { Actor } from '@rollcall/rpc'
import { Schema, Types } from 'mongoose'
import type { Change } from '../contacts/changes.ts'
import type { Contact } from '../contacts/contact.model.ts'
import type { AudienceList } from '../lists/list.model.ts'
import type { Membership } from '../lists/membership.model.ts'

/** What can have happened to a contact by somebody's doing. */
export type ChangeType =
  | 'contact.created'
  | 'contact.updated'
  | 'contact.attributes_updated'
  | 'contact.tags_replaced'
  | 'contact.blocked'
  | 'contact.unblocked'
  | 'contact.imported'
  | 'contact.import_undone'
  | 'contact.user_linked'
  | 'contact.user_unlinked'
  | 'contact.added_to_list'
  | 'contact.removed_from_list'

/** What an entry says besides who, what and when. */
export type HistoryData = {
  /** The fields that changed. */
  changes?: Change[]
  importJob?: Types.ObjectId
  /** Row of the import, from 1. */
  row?: number
  list?: { _id: Types.ObjectId; name: string }
  /** Of what other services tell: as they tell it. */
  [detail: string]: unknown
}

/** One thing that happened to a contact, or to an account. */
export type HistoryEntry = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  /** Whom it is about: the contact, or the account where that is the subject. */
  person: Types.ObjectId
  subject: 'contact' | 'user'
  /** A change was made to the record; an activity is what the person did; an email is one that we sent. */
  kind: 'change' | 'activity' | 'email'
  type: string
  at: Date
  actor: Actor
  data: HistoryData
}

export const historySchema = new Schema<HistoryEntry>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    person: { type: Schema.Types.ObjectId, required: true },
    subject: { type: String, default: 'contact' },
    kind: { type: String, default: 'change' },
    type: { type: String, required: true },
    at: { type: Date, required: true },
    actor: { type: Schema.Types.Mixed, required: true },
    data: { type: Schema.Types.Mixed, default: {} },
  },
  { collection: 'history', minimize: false, versionKey: false },
)
historySchema.index({ organization: 1, person: 1, at: 1, _id: 1 })

/** The entry of a change that somebody made. */
export function changeEntry(
  { _id: person, organization }: Pick<Contact, '_id' | 'organization'>,
  type: ChangeType,
  at: Date,
  actor: Actor,
  data: HistoryData = {},
): HistoryEntry {
  return {
    _id: new Types.ObjectId(),
    organization,
    person,
    subject: 'contact',
    kind: 'change',
    type,
    at,
    actor,
    data,
  }
}

/** The first entry of a contact. It follows from the contact alone and bears its id: written twice, it is the same one. */
export function createdEntry(contact: Contact): HistoryEntry {
  const { createdBy: actor } = contact
  const data = actor.kind === 'import' && actor.id !== null ? { importJob: new Types.ObjectId(actor.id) } : {}
  const entry = changeEntry(contact, 'contact.created', contact.createdAt, actor, data)
  return { ...entry, _id: contact._id }
}

/** The entry of coming to a list. It follows from the membership alone and bears its id: written twice, it is the same one. */
export function joinedEntry(membership: Membership, { _id, name }: Pick<AudienceList, '_id' | 'name'>): HistoryEntry {
  const { addedAt, addedBy } = membership
  const entry = changeEntry(memberOf(membership), 'contact.added_to_list', addedAt, addedBy, { list: { _id, name } })
  return { ...entry, _id: membership._id }
}

/** The entry of leaving a list. */
export function leftEntry(
  membership: Membership,
  { _id, name }: Pick<AudienceList, '_id' | 'name'>,
  actor: Actor,
  at: Date,
): HistoryEntry {
  return changeEntry(memberOf(membership), 'contact.removed_from_list', at, actor, { list: { _id, name } })
}

function memberOf({ contact: _id, organization }: Membership): Pick<Contact, '_id' | 'organization'> {
  return { _id, organization }
}
