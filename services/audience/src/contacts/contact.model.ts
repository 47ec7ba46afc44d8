import { emailKeyOf } from '@rollcall/contract'
import { type ContactJson, contactFields as declared } from '@rollcall/protos/gen/audience-v1.ts'
import type { Actor } from '@rollcall/rpc'
import { type ColumnFields, type FieldTable, noteChanges, type Positions, positions, presenter } from '@rollcall/store'
import { Schema, Types } from 'mongoose'
import { type AttributeValues, type Definitions, pathOf } from '../attributes/attribute-values.ts'
import type { Data } from '../context.ts'

/** A person an organization writes to, with or without an account. */
export type Contact = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  /** As typed, trimmed. */
  email: string
  /** The email in the form that is compared; unique in the organization. */
  emailKey: string
  name: string
  attributes: AttributeValues
  tags: string[]
  unsubscribed: boolean
  unsubscribedAt: Date | null
  /** The import or bulk job that opted the contact out, unless somebody else has confirmed it. */
  optedOutBy?: Types.ObjectId | null
  /** The bulk job that blocked the contact, unless somebody else has confirmed it. */
  blockedBy?: Types.ObjectId | null
  /** Excluded from all sending. */
  blocked: boolean
  blockedAt: Date | null
  blockedReason: string | null
  /** The linked account. */
  user: Types.ObjectId | null
  source: 'api' | 'import' | 'form' | 'workflow'
  /** The import job that created or last changed the contact. */
  importJob: Types.ObjectId | null
  emailStatus: 'unknown' | 'ok' | 'bounced' | 'complained'
  createdBy: Actor
  /** The lists it is on; undefined before the first one. */
  lists?: Types.ObjectId[]
  /** How often `lockContact` locked it; undefined before the first time. */
  looks?: number
  /** Its position in the organization's list, from the oldest; see `positions` of the store. */
  position: number
  createdAt: Date
  updatedAt: Date
}

/** The initial values of a contact. */
export const untouched = {
  name: '',
  unsubscribed: false,
  blocked: false,
  blockedAt: null,
  blockedReason: null,
  user: null,
  importJob: null,
  emailStatus: 'unknown',
} satisfies Partial<Contact>

/** A contact without a position. */
export type NewContact = Omit<
  Contact,
  '_id' | 'organization' | 'position' | 'unsubscribedAt' | 'createdAt' | 'updatedAt'
>

/** Returns a new contact with its position and time of creation. */
export function placed(organization: Types.ObjectId, contact: NewContact, position: number, at: Date): Contact {
  const unsubscribedAt = contact.unsubscribed ? at : null
  return { _id: new Types.ObjectId(), organization, ...contact, unsubscribedAt, position, createdAt: at, updatedAt: at }
}

const date = { type: Date, default: null }
const reference = { type: Schema.Types.ObjectId, default: null }

export const contactSchema = new Schema<Contact>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    email: { type: String, required: true },
    emailKey: { type: String, required: true },
    name: { type: String, default: '' },
    attributes: { type: Schema.Types.Mixed, default: {} },
    tags: { type: [String], default: [] },
    unsubscribed: { type: Boolean, default: false },
    unsubscribedAt: date,
    optedOutBy: Schema.Types.ObjectId,
    blockedBy: Schema.Types.ObjectId,
    blocked: { type: Boolean, default: false },
    blockedAt: date,
    blockedReason: { type: String, default: null },
    user: reference,
    source: { type: String, required: true },
    importJob: reference,
    emailStatus: { type: String, default: 'unknown' },
    createdBy: { type: Schema.Types.Mixed, required: true },
    lists: { type: [Schema.Types.ObjectId], default: undefined },
    looks: Number,
    position: { type: Number, required: true },
    createdAt: { type: Date, required: true },
    updatedAt: { type: Date, required: true },
  },
  { collection: 'contacts', minimize: false, versionKey: false },
)
// Every index slows imports down. These serve the id, the email, the default order, the order by name; filters, also by tag,
// are answered by columns. The first is needed because some servers do not use the index of ids for a filter by organization
// and id.
contactSchema.index({ organization: 1, _id: 1 })
contactSchema.index({ organization: 1, emailKey: 1 }, { unique: true })
contactSchema.index({ organization: 1, position: 1 })
contactSchema.index({ organization: 1, name: 1, _id: 1 })
// An account has one contact at most. The filter is a comparison, because MongoDB's planner cannot prove that an id has a type.
// The name ends like a default one: errors of bulk writes name the index only.
contactSchema.index(
  { organization: 1, user: 1 },
  {
    name: 'linked_organization_1_user_1',
    unique: true,
    partialFilterExpression: { user: { $gte: new Types.ObjectId('0'.repeat(24)) } },
  },
)
// Holds only contacts that are on a list.
contactSchema.index(
  { organization: 1, lists: 1, position: 1 },
  { partialFilterExpression: { lists: { $exists: true } } },
)

const publicFields: FieldTable = {
  ...declared,
  // Compared and sorted by its key: ignores case and uses an index.
  email: { type: 'string', key: { path: 'emailKey', of: emailKeyOf } },
}

/** Returns a contact as clients and events see it. */
export const publicContact = presenter<ContactJson>(publicFields)

const fieldTypes = { string: 'string', number: 'number', boolean: 'boolean', date: 'date', enum: 'string' } as const

/** Returns the fields that filters, sorts and projections of an organization's contacts can name. */
export function contactFields(definitions: Definitions): FieldTable {
  const attributes = [...definitions.values()].map(({ slug, type }) => [pathOf(slug), fieldTypes[type]] as const)
  return { ...publicFields, ...Object.fromEntries(attributes) }
}

/** The stored fields that filters find in columns: all that they can name, except whole objects. */
export const contactColumns: ColumnFields = [
  '_id',
  'email',
  'emailKey',
  'name',
  'attributes.*',
  'tags',
  'unsubscribed',
  'unsubscribedAt',
  'blocked',
  'blockedAt',
  'blockedReason',
  'user',
  'source',
  'importJob',
  'emailStatus',
  'createdBy.kind',
  'createdBy.id',
  'createdBy.name',
  'lists',
  'createdAt',
  'updatedAt',
]

/** Returns the positions of an organization's contacts in its list. */
export function contactPositions(context: Pick<Data, 'store'>, organization: string | Types.ObjectId): Positions {
  return positions(context.store, organization, 'contacts', { onChanges: noteChanges })
}

/** Returns the function that notifies batches of imports of writes that wait for an organization's positions of contacts. */
export function waitAnnouncer(context: Pick<Data, 'store'>): (organization: string) => Promise<void> {
  return organization => contactPositions(context, organization).announceWait()
}
