import type { Actor } from '@rollcall/rpc'
import { Schema, Types } from 'mongoose'
import type { Change } from '../contacts/changes.ts'
import type { Contact } from '../contacts/contact.model.ts'
import type { AudienceList } from '../lists/list.model.ts'
import type { Membership } from '../lists/membership.model.ts'

/** The changes of a contact that history records. */
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
  | 'contact.restored'

/** The entries of people who sign up. */
export type SignUpType = 'form.submitted' | 'form.confirmed'

/** The details of an entry. */
export type HistoryData = {
  /** The fields that changed. */
  changes?: Change[]
  importJob?: Types.ObjectId
  /** Row of the import, from 1. */
  row?: number
  list?: { _id: Types.ObjectId; name: string }
  /** Details from events of other services. */
  [detail: string]: unknown
}

/** An entry in the history of a contact or an account. */
export type HistoryEntry = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  /** The contact, or the account if that is the subject. */
  person: Types.ObjectId
  subject: 'contact' | 'user'
  /** A change of the record, an activity of the person, or an email to them. */
  kind: 'change' | 'activity' | 'email'
  type: string
  at: Date
  actor: Actor
  data: HistoryData
  /** Set if its contact was deleted in bulk: until then an undo can restore it. */
  expiresAt?: Date
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
    expiresAt: Date,
  },
  { collection: 'history', minimize: false, versionKey: false },
)
historySchema.index({ organization: 1, person: 1, at: 1, _id: 1 })
historySchema.index(
  { expiresAt: 1 },
  { expireAfterSeconds: 0, partialFilterExpression: { expiresAt: { $exists: true } } },
)

/** Returns the entry of a change. */
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

/** Returns the entry of what a person did. */
export function activityEntry(
  contact: Pick<Contact, '_id' | 'organization'>,
  type: SignUpType,
  at: Date,
  actor: Actor,
  data: HistoryData,
): HistoryEntry {
  const { organization, _id: person } = contact
  return {
    _id: new Types.ObjectId(),
    organization,
    person,
    subject: 'contact',
    kind: 'activity',
    type,
    at,
    actor,
    data,
  }
}

/** Returns the first entry of a contact. It has the contact's id, so that writing it is idempotent. */
export function createdEntry(contact: Contact): HistoryEntry {
  const { createdBy: actor } = contact
  const data = actor.kind === 'import' && actor.id !== null ? { importJob: new Types.ObjectId(actor.id) } : {}
  const entry = changeEntry(contact, 'contact.created', contact.createdAt, actor, data)
  return { ...entry, _id: contact._id }
}

/** Returns the entry of joining a list. It has the membership's id, so that writing it is idempotent. */
export function joinedEntry(membership: Membership, { _id, name }: Pick<AudienceList, '_id' | 'name'>): HistoryEntry {
  const { addedAt, addedBy } = membership
  const entry = changeEntry(memberOf(membership), 'contact.added_to_list', addedAt, addedBy, { list: { _id, name } })
  return { ...entry, _id: membership._id }
}

/** Returns the entry of leaving a list. */
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
