import type { Actor } from '@rollcall/rpc'
import { Schema, Types } from 'mongoose'
import type { Change } from '../contacts/changes.ts'
import type { Contact } from '../contacts/contact.model.ts'

/** What can have happened to a contact by somebody's doing. */
export type ChangeType =
  | 'contact.created'
  | 'contact.updated'
  | 'contact.attributes_updated'
  | 'contact.tags_replaced'
  | 'contact.blocked'
  | 'contact.unblocked'
  | 'contact.imported'

/** What an entry says besides who, what and when. */
export type HistoryData = {
  /** The fields that changed. */
  changes?: Change[]
  importJob?: Types.ObjectId
  /** Row of the import, from 1. */
  row?: number
}

/** One thing that happened to a contact. */
export type HistoryEntry = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  contact: Types.ObjectId
  subject: 'contact' | 'user'
  /** A change was made to the record; an activity is what the person did. */
  kind: 'change' | 'activity'
  type: string
  at: Date
  actor: Actor
  data: HistoryData
}

export const historySchema = new Schema<HistoryEntry>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    contact: { type: Schema.Types.ObjectId, required: true },
    subject: { type: String, default: 'contact' },
    kind: { type: String, default: 'change' },
    type: { type: String, required: true },
    at: { type: Date, required: true },
    actor: { type: Schema.Types.Mixed, required: true },
    data: { type: Schema.Types.Mixed, default: {} },
  },
  { collection: 'history', minimize: false, versionKey: false },
)
historySchema.index({ organization: 1, contact: 1, at: 1, _id: 1 })

/** The entry of a change that somebody made. */
export function changeEntry(
  contact: Contact,
  type: ChangeType,
  at: Date,
  actor: Actor,
  data: HistoryData = {},
): HistoryEntry {
  const { _id: id, organization } = contact
  return {
    _id: new Types.ObjectId(),
    organization,
    contact: id,
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
