// Generated from the protos by `npm run generate`. Do not edit.

import type { HttpBody } from './api.ts'
import type { Actor, ActorJson, Empty, IdRequest, ListOfRequest, ListRequest, Updated } from './types.ts'
/** Custom attributes of contacts, defined by the organization beforehand. */
export type Attributes = {
  /** Lists the attribute definitions. Honours the shared list parameters. */
  listAttributes: { kind: 'server_stream'; request: ListRequest; response: HttpBody }
  /** Defines an attribute. Its slug and type never change. */
  createAttribute: { kind: 'unary'; request: CreateAttributeRequest; response: HttpBody }
  /** Updates name, options or required: at least one of them. */
  updateAttribute: { kind: 'unary'; request: UpdateAttributeRequest; response: Updated }
  /** Deletes the definition and every contact's value of it; history stays. */
  deleteAttribute: { kind: 'unary'; request: IdRequest; response: HttpBody }
  /** The definitions as another service needs them. */
  describeAttributes: { kind: 'unary'; request: Empty; response: DescribeAttributesResponse }
}

export type Attribute = {
  name: string
  slug: string
  type: 'string' | 'number' | 'boolean' | 'date' | 'enum'
  /** Values allowed, of an enum. */
  options: string[]
  /** Whether a new contact must have it. */
  required: boolean
  createdBy?: Actor | null
}

/** Attribute as JSON. */
export type AttributeJson = {
  _id: string
  id: string
  name: string
  slug: string
  type: 'string' | 'number' | 'boolean' | 'date' | 'enum'
  /** Values allowed, of an enum. */
  options: string[]
  /** Whether a new contact must have it. */
  required: boolean
  createdBy: ActorJson
  createdAt: string
  updatedAt: string
}

/** The public fields of Attribute. */
export const attributeFields = {
  'name': 'string',
  'slug': 'string',
  'type': 'string',
  'options': 'string[]',
  'required': 'boolean',
  'createdBy': 'object',
  'createdBy.kind': 'string',
  'createdBy.id': 'string',
  'createdBy.name': 'string',
} as const

export type CreateAttributeRequest = {
  name: string
  /** Lower case letters, digits and underscores, from a letter; 40 characters at most; no field or column name of contacts. */
  slug: string
  type: 'string' | 'number' | 'boolean' | 'date' | 'enum'
  /** Values allowed; an enum needs at least one. */
  options: string[]
  required?: boolean
}

export type UpdateAttributeRequest = {
  id: string
  name?: string
  /** Values allowed, of an enum: replaced wholesale. */
  options: string[]
  required?: boolean
}

export type DescribeAttributesResponse = {
  definitions: DescribeAttributesResponseDefinition[]
}

export type DescribeAttributesResponseDefinition = {
  slug: string
  type: string
  options: string[]
  required: boolean
}

/** How an import reaches the audience. Internal. */
export type Batches = {
  /** Applies one batch of checked rows. Applying it again answers the first outcome and changes nothing. */
  applyBatch: { kind: 'unary'; request: ApplyBatchRequest; response: ApplyBatchResponse }
  /** Takes one batch back, field by field, as far as nobody has changed it since. Taking it back again answers the same and changes nothing; one that is taken back before it comes will come to nothing. Batches of a job are taken back from the last one to the first. */
  undoBatch: { kind: 'unary'; request: UndoBatchRequest; response: UndoBatchResponse }
  /** Which lists an import cannot add contacts to. */
  checkLists: { kind: 'unary'; request: CheckListsRequest; response: CheckListsResponse }
}

export type ApplyBatchRequest = {
  jobId: string
  /** Number of the batch in its job, from 0. Two batches of a job may be under way at once: they share no email. */
  number: number
  /** update or skip. */
  duplicateStrategy: string
  /** Added to every contact of the batch. */
  tags: string[]
  rows: ApplyBatchRequestRow[]
  /** Lists that every contact of the batch is added to, but for those left alone. A list that is archived or deleted meanwhile takes none. */
  listIds: string[]
  /** Writes nothing: answers what would become of the rows as the contacts are now. */
  dryRun?: boolean
  /** Of a dry run: how many rows to show the changes of. */
  previewRows?: number
  /** Applies nothing any more: answers what the batch came to. One that has not come comes to nothing when it does, and its outcomes are none. */
  settle?: boolean
}

export type ApplyBatchRequestRow = {
  /** 1-based over data rows. */
  row: number
  email: string
  /** "" keeps the old name. */
  name: string
  /** Typed values by slug; null where the cell was blank and blanks clear. */
  attributes: Record<string, unknown>
  /** Tags of the row's own cell. */
  tags: string[]
  /** true sets the opt-out; false is counted where one is kept. */
  unsubscribed?: boolean
  /** The row's own tags cell was blank and blanks clear. */
  clearTags: boolean
}

export type ApplyBatchResponse = {
  /** One for each row, in order. */
  outcomes: ApplyBatchResponseOutcome[]
  /** Rows that would have cleared an opt-out. */
  optOutsKept: number
  failures: ApplyBatchResponseFailure[]
  /** Contacts newly added, counted for each list. */
  addedToLists: number
  /** Of a dry run: the first rows that create or update a contact. */
  previews: ApplyBatchResponsePreview[]
}

export type ApplyBatchResponseOutcome = 'OUTCOME_UNSPECIFIED' | 'CREATED' | 'UPDATED' | 'UNCHANGED' | 'SKIPPED' | 'FAILED'

export type ApplyBatchResponseFailure = {
  row: number
  /** email, name, tags or attributes.<slug>. */
  field: string
  value: string
  code: string
  message: string
}

export type ApplyBatchResponsePreview = {
  row: number
  email: string
  outcome: ApplyBatchResponseOutcome
  changes: ApplyBatchResponseFieldChange[]
}

export type ApplyBatchResponseFieldChange = {
  /** email, name, tags, unsubscribed or attributes.<slug>. */
  key: string
  /** null where there is nothing. */
  from: unknown
  to: unknown
}

export type UndoBatchRequest = {
  jobId: string
  number: number
}

/** Each contact that the batch created or updated counts once: as deleted, restored or kept. */
export type UndoBatchResponse = {
  /** Contacts that the batch had created, and that are gone now. */
  deleted: number
  /** Contacts of which something is again as it was before the batch. */
  restored: number
  /** Contacts that are left as they are, since somebody has changed or deleted them. */
  kept: number
  /** Memberships that ended, but for those of deleted contacts. */
  removedFromLists: number
}

export type CheckListsRequest = {
  listIds: string[]
}

export type CheckListsResponse = {
  /** Not lists of the organization. */
  unknown: string[]
  archived: string[]
}

/** Contacts: the people an organization writes to. */
export type Contacts = {
  /** Lists contacts, newest first. Honours the shared list parameters. */
  listContacts: { kind: 'server_stream'; request: ListRequest; response: HttpBody }
  /** Downloads contacts as CSV. Honours filter and sort of the list. Importing the file again changes nothing. */
  exportContacts: { kind: 'server_stream'; request: ExportContactsRequest; response: HttpBody }
  /** Downloads a CSV template that has the organization's attribute columns. */
  getImportSample: { kind: 'unary'; request: Empty; response: HttpBody }
  /** The tags in use, each with the number of contacts that have it, most used first, 10,000 at most. Tags are case-sensitive. */
  countTags: { kind: 'unary'; request: Empty; response: HttpBody }
  /** One contact. */
  getContact: { kind: 'unary'; request: IdRequest; response: HttpBody }
  /** Creates a contact. The email is unique in the organization, whatever its case. */
  createContact: { kind: 'unary'; request: CreateContactRequest; response: HttpBody }
  /** Updates the core fields: at least one of them. */
  updateContact: { kind: 'unary'; request: UpdateContactRequest; response: Updated }
  /** Merges custom attributes; null removes one. */
  updateAttributes: { kind: 'unary'; request: UpdateAttributesRequest; response: Updated }
  /** Replaces the contact's tags; [] clears them. */
  replaceTags: { kind: 'unary'; request: ReplaceTagsRequest; response: Updated }
  /** Excludes the contact from all sending. Blocking a blocked contact changes its reason only. */
  blockContact: { kind: 'unary'; request: BlockContactRequest; response: Updated }
  /** Restores a blocked contact. */
  unblockContact: { kind: 'unary'; request: IdRequest; response: Updated }
  /** Attaches the contact to a user account, in the place of another one; null detaches it. An account has at most one contact. Needs users.read besides. */
  linkUser: { kind: 'unary'; request: LinkUserRequest; response: Updated }
  /** Deletes the contact and answers it as it was. No user account is touched. */
  deleteContact: { kind: 'unary'; request: IdRequest; response: HttpBody }
  /** Everything that happened to the contact and, while it is linked to a user account, to and by that account; newest first. Of the account (subject user) type, time and actor; callers with users.read also see which fields or role changed. */
  listTimeline: { kind: 'server_stream'; request: ListOfRequest; response: HttpBody }
  /** What the contact did, newest first. */
  listActivities: { kind: 'server_stream'; request: ListOfRequest; response: HttpBody }
  /** Changes of the contact's fields and attributes, newest first. */
  listAttributesHistory: { kind: 'server_stream'; request: ListOfRequest; response: HttpBody }
  /** The lists the contact is on, those it came to last first. */
  listContactLists: { kind: 'server_stream'; request: ListOfRequest; response: HttpBody }
  /** Emails that the organization sent to the contact, newest first. Mail to an account of the same address is none of them. */
  listEmails: { kind: 'server_stream'; request: ListOfRequest; response: HttpBody }
}

export type Contact = {
  /** As typed, trimmed. */
  email: string
  name: string
  /** Custom attributes by slug. */
  attributes: Record<string, unknown>
  tags: string[]
  unsubscribed: boolean
  unsubscribedAt: string
  blocked: boolean
  blockedAt: string
  blockedReason: string
  /** The linked user account: its id, or {_id, id, name, email, role, blocked} with populate=user. */
  user: unknown
  source: 'api' | 'import' | 'form' | 'workflow'
  /** The import job that created or last changed the contact. */
  importJob: string
  emailStatus: 'unknown' | 'ok' | 'bounced' | 'complained'
  createdBy?: Actor | null
}

/** Contact as JSON. */
export type ContactJson = {
  _id: string
  id: string
  /** As typed, trimmed. */
  email: string
  name: string
  /** Custom attributes by slug. */
  attributes: Record<string, unknown>
  tags: string[]
  unsubscribed: boolean
  unsubscribedAt: string | null
  blocked: boolean
  blockedAt: string | null
  blockedReason: string | null
  /** The linked user account: its id, or {_id, id, name, email, role, blocked} with populate=user. */
  user: string | Record<string, unknown> | null
  source: 'api' | 'import' | 'form' | 'workflow'
  /** The import job that created or last changed the contact. */
  importJob: string | null
  emailStatus: 'unknown' | 'ok' | 'bounced' | 'complained'
  createdBy: ActorJson
  createdAt: string
  updatedAt: string
}

/** The public fields of Contact. */
export const contactFields = {
  'email': 'string',
  'name': 'string',
  'attributes': 'object',
  'tags': 'string[]',
  'unsubscribed': 'boolean',
  'unsubscribedAt': 'date',
  'blocked': 'boolean',
  'blockedAt': 'date',
  'blockedReason': 'string',
  'user': 'objectId',
  'source': 'string',
  'importJob': 'objectId',
  'emailStatus': 'string',
  'createdBy': 'object',
  'createdBy.kind': 'string',
  'createdBy.id': 'string',
  'createdBy.name': 'string',
} as const

export type TagCount = {
  tag: string
  count: number
}

/** TagCount as JSON. */
export type TagCountJson = {
  tag: string
  count: number
}

/** One thing that happened to a contact. */
export type HistoryEntry = {
  contact: string
  subject: 'contact' | 'user'
  /** For example contact.created, contact.blocked, contact.tags_replaced. */
  type: string
  at: string
  actor?: Actor | null
  /** Of an account, empty for callers without users.read. */
  data: Record<string, unknown>
}

/** HistoryEntry as JSON. */
export type HistoryEntryJson = {
  _id: string
  id: string
  contact: string
  subject: 'contact' | 'user'
  /** For example contact.created, contact.blocked, contact.tags_replaced. */
  type: string
  at: string
  actor: ActorJson
  /** Of an account, empty for callers without users.read. */
  data: Record<string, unknown>
}

/** The public fields of HistoryEntry. */
export const historyEntryFields = {
  'contact': 'objectId',
  'subject': 'string',
  'type': 'string',
  'at': 'date',
  'actor': 'object',
  'actor.kind': 'string',
  'actor.id': 'string',
  'actor.name': 'string',
  'data': 'object',
} as const

/** One change of a field or attribute. */
export type AttributeChange = {
  contact: string
  type: string
  at: string
  actor?: Actor | null
  /** Field name, or attributes.<slug>. */
  key: string
  from: unknown
  to: unknown
  importJob?: string
  /** Row of the import, from 1. */
  row?: number
}

/** AttributeChange as JSON. */
export type AttributeChangeJson = {
  _id: string
  id: string
  contact: string
  type: string
  at: string
  actor: ActorJson
  /** Field name, or attributes.<slug>. */
  key: string
  from: unknown
  to: unknown
  importJob?: string
  /** Row of the import, from 1. */
  row?: number
}

/** The public fields of AttributeChange. */
export const attributeChangeFields = {
  'contact': 'objectId',
  'type': 'string',
  'at': 'date',
  'actor': 'object',
  'actor.kind': 'string',
  'actor.id': 'string',
  'actor.name': 'string',
  'key': 'string',
  'from': 'scalar',
  'to': 'scalar',
  'importJob': 'objectId',
  'row': 'number',
} as const

/** A contact's being on a list. */
export type ListMembership = {
  list?: ListName | null
  addedAt: string
  addedBy?: Actor | null
  /** The way in. */
  source: 'api' | 'import' | 'form' | 'workflow'
}

/** ListMembership as JSON. */
export type ListMembershipJson = {
  _id: string
  id: string
  list: ListNameJson
  addedAt: string
  addedBy: ActorJson
  /** The way in. */
  source: 'api' | 'import' | 'form' | 'workflow'
}

/** The public fields of ListMembership. */
export const listMembershipFields = {
  'list': 'object',
  'list._id': 'objectId',
  'list.name': 'string',
  'addedAt': 'date',
  'addedBy': 'object',
  'addedBy.kind': 'string',
  'addedBy.id': 'string',
  'addedBy.name': 'string',
  'source': 'string',
} as const

export type ListName = {
  _id: string
  name: string
}

/** ListName as JSON. */
export type ListNameJson = {
  _id: string
  name: string
}

/** An email that was sent to a contact, or is about to be. */
export type ContactEmail = {
  contact: string
  to: string
  subject: string
  /** Address it went out from. */
  sender: string
  status: 'queued' | 'sent' | 'delivered' | 'opened' | 'clicked' | 'bounced' | 'failed'
  at: string
  sentAt: string
  error: string
}

/** ContactEmail as JSON. */
export type ContactEmailJson = {
  _id: string
  id: string
  contact: string
  to: string
  subject: string
  /** Address it went out from. */
  sender: string
  status: 'queued' | 'sent' | 'delivered' | 'opened' | 'clicked' | 'bounced' | 'failed'
  at: string
  sentAt: string | null
  error: string | null
}

/** The public fields of ContactEmail. */
export const contactEmailFields = {
  'contact': 'objectId',
  'to': 'string',
  'subject': 'string',
  'sender': 'string',
  'status': 'string',
  'at': 'date',
  'sentAt': 'date',
  'error': 'string',
} as const

export type ExportContactsRequest = {
  /** As in the list. */
  filter?: string
  /** As in the list. */
  sort?: string
}

export type CreateContactRequest = {
  email: string
  name?: string
  /** Values by attribute slug. */
  attributes?: Record<string, string | number | boolean | null>
  tags: string[]
  unsubscribed?: boolean
}

export type UpdateContactRequest = {
  id: string
  email?: string
  name?: string
  unsubscribed?: boolean
}

export type UpdateAttributesRequest = {
  id: string
  /** Values by attribute slug; null removes one. */
  attributes: Record<string, string | number | boolean | null>
}

export type ReplaceTagsRequest = {
  id: string
  tags: string[]
}

export type LinkUserRequest = {
  id: string
  /** null detaches. */
  userId: string
}

export type BlockContactRequest = {
  id: string
  reason?: string
}

/** Audience lists: what a campaign sends to. */
export type Lists = {
  /** Lists the audience lists, newest first. Honours the shared list parameters. */
  listLists: { kind: 'server_stream'; request: ListRequest; response: HttpBody }
  /** Creates a list. Its name is unique in the organization, whatever its case. */
  createList: { kind: 'unary'; request: CreateListRequest; response: HttpBody }
  /** One list. */
  getList: { kind: 'unary'; request: IdRequest; response: HttpBody }
  /** Updates a list: at least one field. An archived list takes no more contacts. */
  updateList: { kind: 'unary'; request: UpdateListRequest; response: Updated }
  /** Deletes the list; its contacts stay. */
  deleteList: { kind: 'unary'; request: IdRequest; response: HttpBody }
  /** The contacts of the list, those added last first. Needs audience.read besides. Honours the shared list parameters. */
  listMembers: { kind: 'server_stream'; request: ListOfRequest; response: HttpBody }
  /** Adds contacts by exactly one of ids, emails or a filter. An archived list takes none. A filter that matches more than can be added while the client waits is worked through behind: the answer is 503 then, and the same request joins in. triggers.audience.added_to_list fires once per newly added contact. A filter needs audience.read besides. */
  addMembers: { kind: 'unary'; request: SelectMembersRequest; response: AddMembersResponse }
  /** Removes contacts by exactly one of ids, emails or a filter, which is worked through as when adding and needs audience.read too. */
  removeMembers: { kind: 'unary'; request: SelectMembersRequest; response: RemoveMembersResponse }
}

export type AudienceList = {
  name: string
  description: string
  tags: string[]
  archived: boolean
  memberCount: number
  /** Members that are neither blocked nor unsubscribed. */
  activeCount: number
  createdBy?: Actor | null
}

/** AudienceList as JSON. */
export type AudienceListJson = {
  _id: string
  id: string
  name: string
  description: string
  tags: string[]
  archived: boolean
  memberCount: number
  /** Members that are neither blocked nor unsubscribed. */
  activeCount: number
  createdBy: ActorJson
  createdAt: string
  updatedAt: string
}

/** The public fields of AudienceList. */
export const audienceListFields = {
  'name': 'string',
  'description': 'string',
  'tags': 'string[]',
  'archived': 'boolean',
  'memberCount': 'number',
  'activeCount': 'number',
  'createdBy': 'object',
  'createdBy.kind': 'string',
  'createdBy.id': 'string',
  'createdBy.name': 'string',
} as const

export type CreateListRequest = {
  name: string
  description?: string
  tags: string[]
}

export type UpdateListRequest = {
  id: string
  name?: string
  description?: string
  /** Replaced wholesale; [] clears them. */
  tags?: string[]
  archived?: boolean
}

/** One selector of contacts. */
export type SelectMembersRequest = {
  id: string
  contactIds: string[]
  emails: string[]
  /** As in the list of contacts; {} is all of them. */
  filter?: Record<string, unknown>
}

export type AddMembersResponse = {
  /** Newly added. */
  added: number
  alreadyMember: number
  notFound: number
}

export type RemoveMembersResponse = {
  removed: number
}
