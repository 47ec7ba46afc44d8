// Generated from the protos by `npm run generate`. Do not edit.

import type { HttpBody } from './api.ts'
import type { ActorJson, Empty, IdRequest, ListOfRequest, ListRequest, Updated } from './types.ts'
/** Custom attributes of contacts, defined by the organization. */
export type Attributes = {
  /** Lists the attribute definitions. Use it to build forms, filters and import mappings of contacts. Honours the shared list parameters. */
  listAttributes: { kind: 'server_stream'; request: ListRequest; response: HttpBody }
  /** Defines an attribute. Use it before contacts or imports set a value of your own. Its slug and type are immutable. */
  createAttribute: { kind: 'unary'; request: CreateAttributeRequest; response: HttpBody }
  /** Updates an attribute. Use it to rename an attribute or to offer more options. Requires at least one of name, options and required. */
  updateAttribute: { kind: 'unary'; request: UpdateAttributeRequest; response: Updated }
  /** Deletes an attribute and its value on every contact. Use it when nobody needs the values any more: they cannot be restored. History is kept. */
  deleteAttribute: { kind: 'unary'; request: IdRequest; response: HttpBody }
  /** Returns the definitions for other services. */
  describeAttributes: { kind: 'unary'; request: Empty; response: DescribeAttributesResponse }
}

/** Attribute as JSON. */
export type AttributeJson = {
  _id: string
  id: string
  name: string
  slug: string
  type: 'string' | 'number' | 'boolean' | 'date' | 'enum'
  /** Allowed values of an enum. */
  options: string[]
  /** Whether new contacts must have a value. */
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
  /** Lower-case letters, digits and underscores, starting with a letter; at most 40 characters. Must not be a field or column name of contacts. */
  slug: string
  type: 'string' | 'number' | 'boolean' | 'date' | 'enum'
  /** Allowed values. An enum needs at least one. */
  options: string[]
  required?: boolean
}

export type UpdateAttributeRequest = {
  id: string
  name?: string
  /** Allowed values of an enum. Replaces the existing ones. */
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

/** Applies and undoes the batches of an import. Internal. */
export type Batches = {
  /** Applies one batch of checked rows. Idempotent: a retry returns the outcomes of the first call. */
  applyBatch: { kind: 'unary'; request: ApplyBatchRequest; response: ApplyBatchResponse }
  /** Undoes one batch, field by field, except for values that were changed since. Idempotent: a retry returns the same answer. Undoing a batch that has not arrived yet cancels it. Undo the batches of a job in reverse order. */
  undoBatch: { kind: 'unary'; request: UndoBatchRequest; response: UndoBatchResponse }
  /** Returns the lists that an import cannot add contacts to. */
  checkLists: { kind: 'unary'; request: CheckListsRequest; response: CheckListsResponse }
}

export type ApplyBatchRequest = {
  jobId: string
  /** Number of the batch in its job, from 0. Two batches of a job may run concurrently; they share no email. */
  number: number
  /** update or skip. */
  duplicateStrategy: string
  /** Added to every contact of the batch. */
  tags: string[]
  rows: ApplyBatchRequestRow[]
  /** Lists that every contact of the batch is added to, except skipped ones. Lists that are archived or deleted in the meantime are ignored. */
  listIds: string[]
  /** Writes nothing. Returns the outcomes that the rows would have with the current contacts. */
  dryRun?: boolean
  /** For a dry run: number of rows to preview. */
  previewRows?: number
  /** Applies nothing. Returns the outcomes of the batch. A batch that has not arrived yet is cancelled and has no outcomes. */
  settle?: boolean
}

export type ApplyBatchRequestRow = {
  /** 1-based over data rows. */
  row: number
  email: string
  /** "" keeps the old name. */
  name: string
  /** Typed values by slug. null if the cell was blank and blank cells clear values. */
  attributes: Record<string, unknown>
  /** Tags from the row's cell. */
  tags: string[]
  /** true sets the opt-out. false keeps an existing opt-out and counts it. */
  unsubscribed?: boolean
  /** The row's tags cell was blank and blank cells clear values. */
  clearTags: boolean
}

export type ApplyBatchResponse = {
  /** One for each row, in order. */
  outcomes: ApplyBatchResponseOutcome[]
  /** Rows that would have cleared an opt-out. */
  optOutsKept: number
  failures: ApplyBatchResponseFailure[]
  /** New list memberships. */
  addedToLists: number
  /** For a dry run: the first rows that would create or update a contact. */
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
  /** null if there is no value. */
  from: unknown
  to: unknown
}

export type UndoBatchRequest = {
  jobId: string
  number: number
}

/** Counts of an undone batch. Each contact that the batch created or updated counts once: as deleted, restored or kept. */
export type UndoBatchResponse = {
  /** Deleted contacts, which the batch had created. */
  deleted: number
  /** Contacts with at least one value restored. */
  restored: number
  /** Contacts left unchanged because they were changed or deleted since. */
  kept: number
  /** Removed list memberships, except those of deleted contacts. */
  removedFromLists: number
}

export type CheckListsRequest = {
  listIds: string[]
}

export type CheckListsResponse = {
  /** Ids that are not lists of the organization. */
  unknown: string[]
  archived: string[]
}

/** Work on many contacts at once, as background jobs with a dry run, progress and undo. */
export type Bulk = {
  /** Changes the contacts that exactly one of ids, emails and a filter selects, as a background job. Use it to tag, block, opt out or sort into lists what a filter finds; try it with dryRun first. Each contact gets the history and events of the single calls, once, also if the service restarts meanwhile. An opt-out or a block lasts: unsubscribed can only be set. A filter also requires audience.read, addToLists audience_lists.create, removeFromLists audience_lists.delete. 429 beyond 20 unfinished jobs per organization. */
  changeContacts: { kind: 'unary'; request: ChangeContactsRequest; response: BulkJobStarted }
  /** Deletes the contacts that exactly one of ids, emails and a filter selects, as a background job. Use it to clean up what a filter finds; try it with dryRun first. For 7 days an undo brings them back. A filter also requires audience.read. 429 beyond 20 unfinished jobs per organization. */
  deleteContacts: { kind: 'unary'; request: DeleteContactsRequest; response: BulkJobStarted }
  /** Lists the organization's bulk jobs, newest first. Use it to find earlier jobs, also those that were started elsewhere. Honours the shared list parameters. */
  listBulkJobs: { kind: 'server_stream'; request: ListRequest; response: HttpBody }
  /** Returns the status of a bulk job. Use it to follow one job and to read its result. Poll until its state is completed or failed. Requires audience.read, or what starting the job requires. */
  getBulkJob: { kind: 'unary'; request: BulkJobRequest; response: HttpBody }
  /** Cancels an unfinished job. Use it if a job turns out to be wrong while contacts are still to come. Changes made until then are kept; undo takes them back. Requires what starting the job requires. */
  cancelBulkJob: { kind: 'unary'; request: BulkJobRequest; response: Updated }
  /** Undoes a finished or cancelled job, as a new job. Use it within 7 days if a job should not have happened. Restores every field that nobody has changed since, and deleted contacts with their id, tags, lists and history. A deleted contact whose address was taken meanwhile counts as failed; opt-outs and blocks by others stay. Possible once, then 409. Requires what starting the job requires. */
  undoBulkJob: { kind: 'unary'; request: BulkJobRequest; response: BulkJobStarted }
}

/** One selector of contacts, and what to change of them. */
export type ChangeContactsRequest = {
  contactIds: string[]
  emails: string[]
  /** As for the list of contacts; {} matches all contacts. */
  filter?: Record<string, unknown>
  change?: ContactsChange | null
  /** Writes nothing: counts what would change, and shows the first changes. */
  dryRun?: boolean
}

export type ContactsChange = {
  addTags?: string[]
  removeTags?: string[]
  /** Values by slug; null removes one. Others are kept. */
  attributes?: Record<string, unknown>
  blocked?: boolean
  /** With blocked: true. */
  blockedReason?: string
  /** Only true: nobody is subscribed in bulk. */
  unsubscribed?: boolean
  addToLists?: string[]
  removeFromLists?: string[]
}

/** One selector of contacts. */
export type DeleteContactsRequest = {
  contactIds: string[]
  emails: string[]
  /** As for the list of contacts; {} matches all contacts. */
  filter?: Record<string, unknown>
  /** Writes nothing: counts what would be deleted. */
  dryRun?: boolean
}

export type BulkJobStarted = {
  jobId: string
}

export type BulkJobRequest = {
  jobId: string
}

/** BulkStatus as JSON. */
export type BulkStatusJson = {
  state: 'waiting' | 'active' | 'completed' | 'failed'
  /** Percentage from 0 to 100; 100 only when complete. */
  progress: number
  result: BulkResultJson
  failedReason: string | null
}

/** BulkJob as JSON. */
export type BulkJobJson = {
  _id: string
  id: string
  /** add_to_list and remove_from_list: the members of a list by a filter. erase: one contact, in every service. */
  kind: 'change' | 'delete' | 'undo' | 'add_to_list' | 'remove_from_list' | 'erase'
  dryRun: boolean
  state: 'waiting' | 'active' | 'completed' | 'failed'
  progress: number
  result: BulkResultJson
  failedReason: string | null
  /** The change as it was given; null for other kinds. */
  change: unknown
  /** The filter as it was given; null for ids and emails. */
  filter: string | null
  /** For an undo: the job that it undoes. For others: the undo that has undone it. */
  undoes: string | null
  undoneBy: string | null
  createdBy: ActorJson
  finishedAt: string | null
  createdAt: string
  updatedAt: string
}

/** The public fields of BulkJob. */
export const bulkJobFields = {
  'kind': 'string',
  'dryRun': 'boolean',
  'state': 'string',
  'progress': 'number',
  'result': 'object',
  'result.matched': 'number',
  'result.changed': 'number',
  'result.unchanged': 'number',
  'result.failed': 'number',
  'result.notFound': 'number',
  'result.sample': 'object[]',
  'result.errors': 'object[]',
  'result.added': 'number',
  'result.alreadyMember': 'number',
  'result.removed': 'number',
  'result.services': 'object[]',
  'failedReason': 'string',
  'change': 'scalar',
  'filter': 'string',
  'undoes': 'objectId',
  'undoneBy': 'objectId',
  'createdBy': 'object',
  'createdBy.kind': 'string',
  'createdBy.id': 'string',
  'createdBy.name': 'string',
  'finishedAt': 'date',
} as const

/** Counts of a job, so far. changed, unchanged and failed add up to matched. */
export type BulkResultJson = {
  /** Contacts that the selector found. For an undo: contacts that the job had changed. */
  matched: number
  /** Contacts that were changed or deleted; of an undo, restored. */
  changed: number
  unchanged: number
  failed: number
  /** Ids and emails of no contact. */
  notFound: number
  /** Of a dry run: what the first contacts would get, 20 at most. */
  sample: BulkResultSampleJson[]
  /** The first 100 errors. */
  errors: BulkResultBulkErrorJson[]
  /** Of add_to_list: contacts that were newly added, and that were on the list already. notFound is 0. */
  added?: number
  alreadyMember?: number
  /** Of remove_from_list: contacts that were removed. */
  removed?: number
  /** Of erase: what each service has erased. */
  services: BulkResultErasedServiceJson[]
}

/** BulkResultErasedService as JSON. */
export type BulkResultErasedServiceJson = {
  service: string
  state: 'waiting' | 'erased'
  /** Records that were deleted or blanked. */
  records: number
  erasedAt: string | null
}

/** BulkResultSample as JSON. */
export type BulkResultSampleJson = {
  contact: string
  changes: BulkResultFieldChangeJson[]
}

/** BulkResultFieldChange as JSON. */
export type BulkResultFieldChangeJson = {
  /** tags, unsubscribed, blocked, blockedReason, lists or attributes.<slug>; deleted for a deletion. */
  field: string
  from: unknown
  to: unknown
}

/** BulkResultBulkError as JSON. */
export type BulkResultBulkErrorJson = {
  contact: string
  code: string
  message: string
}

/** Contacts: the people that an organization emails. */
export type Contacts = {
  /** Lists contacts, newest first. Use it to show, search and page contacts; with pagination=false also to read all that match. Honours the shared list parameters. A filter can also name `lists`, the ids of the lists that a contact is on: {"lists":"<id>"}, {"lists":{"$in":[...]}}, {"lists":{"$nin":[...]}}, {"lists":{"$exists":false}}. */
  listContacts: { kind: 'server_stream'; request: ListRequest; response: HttpBody }
  /** Downloads contacts as CSV. Use it for a spreadsheet or a backup. Honours filter and sort of the list. Importing the file again changes nothing. */
  exportContacts: { kind: 'server_stream'; request: ExportContactsRequest; response: HttpBody }
  /** Downloads a CSV template that has the organization's attribute columns. Use it to show people what a file may look like. */
  getImportSample: { kind: 'unary'; request: Empty; response: HttpBody }
  /** Lists the tags in use with their number of contacts, most used first, at most 10,000. Use it to offer tags to choose from, or to find misspelt ones. Tags are case-sensitive. */
  countTags: { kind: 'unary'; request: Empty; response: HttpBody }
  /** Returns how the audience grew, a point for each day, week or month in UTC, oldest first, at most 400. Use it for charts: it costs one small read. With `list`, counts the members of that list instead; also requires audience_lists.read. */
  getGrowth: { kind: 'unary'; request: GetGrowthRequest; response: HttpBody }
  /** Returns a contact. Use it if you know the id; to find a contact by email, filter the list. */
  getContact: { kind: 'unary'; request: IdRequest; response: HttpBody }
  /** Creates a contact. Use it for single contacts, such as a sign-up; import a file for many. The email is unique in the organization, regardless of case. */
  createContact: { kind: 'unary'; request: CreateContactRequest; response: HttpBody }
  /** Updates the core fields of a contact. Use it to correct name and email, or to record an opt-out. Requires at least one field. */
  updateContact: { kind: 'unary'; request: UpdateContactRequest; response: Updated }
  /** Merges custom attributes. Use it to change some attributes without reading the others. null removes an attribute. All attributes of a contact together have at most 64 KiB of text, as UTF-8. */
  updateAttributes: { kind: 'unary'; request: UpdateAttributesRequest; response: Updated }
  /** Replaces the contact's tags; [] clears them. Use it if you know the complete set of tags. */
  replaceTags: { kind: 'unary'; request: ReplaceTagsRequest; response: Updated }
  /** Excludes the contact from all sending. Use it if a person must get no more mail at all, whatever lists they are in. Blocking a blocked contact only changes the reason. */
  blockContact: { kind: 'unary'; request: BlockContactRequest; response: Updated }
  /** Restores a blocked contact. Use it after a block was a mistake or its reason is gone. */
  unblockContact: { kind: 'unary'; request: IdRequest; response: Updated }
  /** Links the contact to a user account, replacing an earlier link; null removes the link. Use it to see a person's account and their history as a contact together. An account has at most one contact. Also requires users.read. */
  linkUser: { kind: 'unary'; request: LinkUserRequest; response: Updated }
  /** Deletes a contact and returns it. Use it to remove a person from the audience; to only stop mail, block the contact. A linked user account is not changed. */
  deleteContact: { kind: 'unary'; request: IdRequest; response: HttpBody }
  /** Downloads everything that is known of a contact, from all services, as JSON. Use it to answer a person who asks what is stored about them. Sections that the caller may not read are left out, and named with the missing permission in `omitted`. The event log records each download. */
  downloadContactData: { kind: 'server_stream'; request: IdRequest; response: HttpBody }
  /** Erases a contact from every service, as a background job. Use it if a person asks to be forgotten; to only remove a contact from the audience, delete it. Also erases messages, campaign recipients, failed rows and uploads that name the address; blanks names and addresses in the event log. Cannot be undone. Poll GET /api/audience/bulk/:jobId: `result.services` shows what is done, within a minute. An address that had opted out or complained stays opted out: if it is created again, it is unsubscribed. Also requires audience.delete. */
  eraseContact: { kind: 'unary'; request: IdRequest; response: BulkJobStarted }
  /** Lists all history of the contact and of its linked user account, newest first. Use it to answer what happened to this person, and who did it. Entries of the account (subject user) show type, time and actor. Callers with users.read also see which fields or role changed. */
  listTimeline: { kind: 'server_stream'; request: ListOfRequest; response: HttpBody }
  /** Lists the contact's own activities, newest first. Use it for a history without the linked account. */
  listActivities: { kind: 'server_stream'; request: ListOfRequest; response: HttpBody }
  /** Lists changes of the contact's fields and attributes, newest first. Use it to see who or which import changed a value, and what it was. */
  listAttributesHistory: { kind: 'server_stream'; request: ListOfRequest; response: HttpBody }
  /** Lists the contact's list memberships, newest first. Use it to see what the contact is sent. */
  listContactLists: { kind: 'server_stream'; request: ListOfRequest; response: HttpBody }
  /** Lists emails that the organization sent to the contact, newest first. Use it to see what was sent to a person, and what became of it. Mail to an account with the same address is not included. */
  listEmails: { kind: 'server_stream'; request: ListOfRequest; response: HttpBody }
}

/** Contact as JSON. */
export type ContactJson = {
  _id: string
  id: string
  /** As entered, trimmed. */
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
  'lists': { type: 'objectId[]', isHiddenSet: true },
} as const

/** TagCount as JSON. */
export type TagCountJson = {
  tag: string
  count: number
}

export type GetGrowthRequest = {
  /** The first interval is the one that contains this time. Default: 30 days with the day of `to`. */
  from?: string
  /** The last interval is the one that contains this time, or the current one. Default: now. */
  to?: string
  /** Default: day. Weeks begin on Monday. */
  interval?: 'day' | 'week' | 'month'
  list?: string
}

/** What happened in an interval. */
export type GrowthPointJson = {
  /** Start of the interval. */
  at: string
  /** Contacts created, or members added. */
  created: number
  /** Contacts that opted out, each time they did; those created as unsubscribed too. */
  unsubscribed: number
  /** Contacts that were blocked, each time. */
  blocked: number
  /** Contacts deleted, or members removed. */
  deleted: number
  /** Contacts or members at the end of the interval. */
  total: number
}

/** A history entry of a contact. */
export type HistoryEntryJson = {
  _id: string
  id: string
  contact: string
  subject: 'contact' | 'user'
  /** For example contact.created, contact.blocked, contact.tags_replaced. */
  type: string
  at: string
  actor: ActorJson
  /** For entries of an account, empty for callers without users.read. */
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

/** A change of a field or attribute. */
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

/** A contact's membership of a list. */
export type ListMembershipJson = {
  _id: string
  id: string
  list: ListNameJson
  addedAt: string
  addedBy: ActorJson
  /** How the contact was added. */
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

/** ListName as JSON. */
export type ListNameJson = {
  _id: string
  name: string
}

/** An email that was sent to a contact, or is queued. */
export type ContactEmailJson = {
  _id: string
  id: string
  contact: string
  to: string
  subject: string
  /** Address that the email was sent from. */
  sender: string
  /** suppressed: not sent, because the contact was blocked or the address is suppressed. */
  status: 'queued' | 'sent' | 'delivered' | 'opened' | 'clicked' | 'bounced' | 'complained' | 'failed' | 'suppressed'
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
  /** As for the list of contacts. */
  filter?: string
  /** As for the list of contacts. */
  sort?: string
}

export type CreateContactRequest = {
  email: string
  name?: string
  /** Values by attribute slug. At most 64 KiB of text in all of them. */
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
  /** Values by attribute slug. null removes an attribute. */
  attributes: Record<string, string | number | boolean | null>
}

export type ReplaceTagsRequest = {
  id: string
  tags: string[]
}

export type LinkUserRequest = {
  id: string
  /** null removes the link. */
  userId: string
}

export type BlockContactRequest = {
  id: string
  reason?: string
}

/** Audience lists: the contacts that a campaign sends to. */
export type Lists = {
  /** Lists the audience lists, newest first. Use it to choose a list to send to or to add contacts to. Honours the shared list parameters. */
  listLists: { kind: 'server_stream'; request: ListRequest; response: HttpBody }
  /** Creates a list. Use it before contacts are added, or before an import that fills it. The name is unique in the organization, regardless of case. */
  createList: { kind: 'unary'; request: CreateListRequest; response: HttpBody }
  /** Returns a list. Use it for the name, the state and the number of members of one list. */
  getList: { kind: 'unary'; request: IdRequest; response: HttpBody }
  /** Updates a list. Use it to rename a list, or to archive one that is no longer sent to. Requires at least one field. An archived list accepts no more contacts. */
  updateList: { kind: 'unary'; request: UpdateListRequest; response: Updated }
  /** Deletes a list. Use it for a list made by mistake; archive one that was sent to. Its contacts are kept. 409 while a campaign that is not finished sends to it or excludes it. */
  deleteList: { kind: 'unary'; request: IdRequest; response: HttpBody }
  /** Lists the contacts of the list, most recently added first. Use it to see or export who would get a mail to this list. Also requires audience.read. Honours the shared list parameters. */
  listMembers: { kind: 'server_stream'; request: ListOfRequest; response: HttpBody }
  /** Adds contacts by exactly one of ids, emails and a filter. Use it for existing contacts; an import can add new ones to a list by itself. An archived list accepts none. A filter runs as a bulk job: if it is done within 2 seconds, the answer is 200 with its numbers, else 202 with its jobId. Poll GET /api/audience/bulk/:jobId then; its result holds the numbers. triggers.audience.added_to_list fires once per newly added contact. A filter also requires audience.read. 429 beyond 20 unfinished bulk jobs per organization. */
  addMembers: { kind: 'unary'; request: SelectMembersRequest; response: AddMembersResponse }
  /** Removes contacts by exactly one of ids, emails and a filter. Use it to take contacts off a list and keep them in the audience. A filter runs in the background as for adding, and also requires audience.read. */
  removeMembers: { kind: 'unary'; request: SelectMembersRequest; response: RemoveMembersResponse }
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
  /** Replaces all tags; [] clears them. */
  tags?: string[]
  archived?: boolean
}

/** One selector of contacts. */
export type SelectMembersRequest = {
  id: string
  contactIds: string[]
  emails: string[]
  /** As for the list of contacts; {} matches all contacts. */
  filter?: Record<string, unknown>
}

/** The numbers, or with 202 the job that goes on. */
export type AddMembersResponse = {
  /** Newly added. */
  added?: number
  alreadyMember?: number
  notFound?: number
  jobId?: string
}

/** The number, or with 202 the job that goes on. */
export type RemoveMembersResponse = {
  removed?: number
  jobId?: string
}

/** Who gets mail. Internal. */
export type Recipients = {
  /** Says of each recipient whether mail may go to it now, in the order of the request. Ask just before the hand-over, so that a change made before it counts. */
  checkRecipients: { kind: 'unary'; request: CheckRecipientsRequest; response: CheckRecipientsResponse }
  /** Ends a hold of CheckRecipients before its time. */
  releaseRecipients: { kind: 'unary'; request: ReleaseRecipientsRequest; response: Empty }
  /** Returns the next contacts of a selection, each once, in the order in which they were created. Use it in a loop to take a whole selection: every page costs the same. Refuses a selection that names an unknown list or segment, or a segment that no longer applies. */
  takeRecipients: { kind: 'unary'; request: TakeRecipientsRequest; response: TakeRecipientsResponse }
  /** Counts the contacts of a selection by whether a campaign reaches them. Refuses what TakeRecipients refuses. */
  countRecipients: { kind: 'unary'; request: Selection; response: CountRecipientsResponse }
  /** Refuses a selection that names a list or a segment that does not exist, with the path of the first one. */
  checkSelection: { kind: 'unary'; request: Selection; response: Empty }
  /** Returns what a contact can choose on the page of a mail's link: whether it gets campaigns, and its lists. */
  getPreferences: { kind: 'unary'; request: GetPreferencesRequest; response: GetPreferencesResponse }
  /** Does what a recipient has chosen, with its history and events, and returns the preferences afterwards. Repeating it changes nothing more. */
  changePreferences: { kind: 'unary'; request: ChangePreferencesRequest; response: GetPreferencesResponse }
}

/** Contacts that are on one of the lists or match one of the segments, without those on an excluded list. */
export type Selection = {
  lists: string[]
  segments: string[]
  excludeLists: string[]
}

export type TakeRecipientsRequest = {
  /** Absent: all contacts. */
  selection?: Selection | null
  /** Leaves out contacts that are blocked or have unsubscribed. */
  reachableOnly: boolean
  /** The last_position of the previous page; 0 for the first one. */
  afterPosition: number
  /** The until_position of the first page, so that contacts created since are not taken. Absent: to the end. */
  untilPosition?: number
  /** At most 1000. */
  limit: number
}

export type TakeRecipientsResponse = {
  recipients: Recipient[]
  lastPosition: number
  /** The position of the newest contact of the organization. */
  untilPosition: number
  /** There are no further contacts. */
  done: boolean
}

/** The contacts on the lists and in the segments are the sum. */
export type CountRecipientsResponse = {
  reachable: number
  /** On an excluded list. */
  excluded: number
  blocked: number
  unsubscribed: number
  /** The address bounced or complained. */
  address: number
}

export type CheckRecipientsRequest = {
  /** At most 1000. */
  recipients: Recipient[]
  /** Contacts that have unsubscribed get no campaigns, but other mail. */
  isCampaign: boolean
  /** Holds the recipients for so long, in milliseconds: a change after which one of them may not get the mail is answered only when the hold is over. An address is held for whichever contact has it. Begin hand-overs within the time, counted from the request. At most 30,000. */
  holdMs?: number
}

export type ReleaseRecipientsRequest = {
  holdId: string
}

/** A contact by id, or by address. */
export type Recipient = {
  /** If given, decides alone. */
  contactId?: string
  email?: string
}

export type CheckRecipientsResponse = {
  recipients: CheckedRecipient[]
  holdId?: string
}

export type CheckedRecipient = {
  /** ok: may get it. blocked, unsubscribed: must not. deleted: there is no such contact. unknown: no contact has the address. */
  outcome: 'ok' | 'blocked' | 'unsubscribed' | 'deleted' | 'unknown'
  contactId?: string
  /** The current address of the contact; the given one if there is no contact. */
  email: string
  /** What templates show of the contact: email, name, attributes, tags. */
  variables: Record<string, unknown>
}

export type GetPreferencesRequest = {
  contactId: string
}

export type GetPreferencesResponse = {
  /** Not set if there is no such contact. */
  preferences?: Preferences | null
}

export type Preferences = {
  email: string
  unsubscribed: boolean
  /** The lists that the contact is on. */
  lists: PreferredList[]
}

export type PreferredList = {
  id: string
  name: string
}

export type ChangePreferencesRequest = {
  contactId: string
  /** How the choice was made. */
  how: 'link' | 'one_click' | 'preference' | 'complaint' | 'provider'
  /** The message whose link it was, or that was complained of. */
  emailId: string
  /** Opts out of campaigns, or in again. */
  unsubscribed?: boolean
  /** Lists to leave; others of them are ignored. */
  leave: string[]
  /** Lists to join again. Only those count that the contact left in this way. */
  rejoin: string[]
}

/** Segments: named filters of contacts. A segment is no copy: it has the contacts that match now. */
export type Segments = {
  /** Lists the segments, newest first. Use it to offer them for choice. Honours the shared list parameters. */
  listSegments: { kind: 'server_stream'; request: ListRequest; response: HttpBody }
  /** Creates a segment. Use it to keep a filter of contacts for everyone in the organization. The name is unique, regardless of case. The filter is checked as for the list of contacts. */
  createSegment: { kind: 'unary'; request: CreateSegmentRequest; response: HttpBody }
  /** Returns a segment. Use it to show or edit its filter. */
  getSegment: { kind: 'unary'; request: IdRequest; response: HttpBody }
  /** Updates a segment. Use it to rename it or to change what it matches. Requires at least one field. */
  updateSegment: { kind: 'unary'; request: UpdateSegmentRequest; response: Updated }
  /** Deletes a segment and returns it. Use it when nobody needs the filter any more. Its contacts are kept. 409 while a campaign that is not finished sends to it. */
  deleteSegment: { kind: 'unary'; request: IdRequest; response: HttpBody }
  /** Lists the contacts that match the segment now, in its order. Use it to show or read them. Honours the shared list parameters: `filter` narrows the segment, `sort` replaces its order. */
  listSegmentContacts: { kind: 'server_stream'; request: ListOfRequest; response: HttpBody }
  /** Counts the contacts that match the segment now. Use it where only the number matters. Costs a read of all contacts the first time, and again after each change of a contact. */
  countSegment: { kind: 'unary'; request: IdRequest; response: CountSegmentResponse }
}

/** Segment as JSON. */
export type SegmentJson = {
  _id: string
  id: string
  name: string
  description: string
  /** As for the list of contacts; {} matches all contacts. */
  filter: Record<string, unknown>
  /** As for the list of contacts; {} is newest first. */
  sort: Record<string, unknown>
  /** What clients show of its contacts; theirs to interpret. */
  columns: string[]
  createdBy: ActorJson
  createdAt: string
  updatedAt: string
}

/** The public fields of Segment. */
export const segmentFields = {
  'name': 'string',
  'description': 'string',
  'filter': 'object',
  'sort': 'object',
  'columns': 'string[]',
  'createdBy': 'object',
  'createdBy.kind': 'string',
  'createdBy.id': 'string',
  'createdBy.name': 'string',
} as const

export type CreateSegmentRequest = {
  name: string
  description?: string
  filter: Record<string, unknown>
  sort?: Record<string, unknown>
  columns: string[]
}

export type UpdateSegmentRequest = {
  id: string
  name?: string
  description?: string
  filter?: Record<string, unknown>
  sort?: Record<string, unknown>
  /** Replaces all columns; [] clears them. */
  columns?: string[]
}

export type CountSegmentResponse = {
  count: number
}

/** People who sign up by a form. Internal. */
export type SignUps = {
  /** Creates the contact of a person who submitted a form, or updates the one with the address. Tags and lists are added, attributes that do not fit their definition or the limit of their text are left out. Only a confirmed sign-up clears an opt-out. Idempotent by id. */
  applySignUp: { kind: 'unary'; request: ApplySignUpRequest; response: ApplySignUpResponse }
  /** Returns which attributes and lists a form must not name, and which attributes it lacks. */
  checkTargets: { kind: 'unary'; request: CheckTargetsRequest; response: CheckTargetsResponse }
}

export type ApplySignUpRequest = {
  /** Idempotency key, an id. */
  id: string
  email: string
  /** '': none was given. */
  name: string
  attributes: Record<string, string | number | boolean | null>
  tags: string[]
  /** Unknown and archived lists are skipped. */
  lists: string[]
  /** The form, and its entry. */
  collectionId: string
  entryId: string
  form: string
  /** When the form was submitted. */
  at: string
  /** If the person has confirmed the address: when, from where, and the text agreed to. */
  confirmation?: Confirmation | null
}

export type Confirmation = {
  at: string
  ip: string
  text: string
}

export type ApplySignUpResponse = {
  contactId: string
}

export type CheckTargetsRequest = {
  attributes: string[]
  lists: string[]
}

export type CheckTargetsResponse = {
  unknownAttributes: string[]
  unknownLists: string[]
  /** Attributes that the organization requires and the request does not name. */
  missingAttributes: string[]
}
