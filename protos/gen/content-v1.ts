// Generated from the protos by `npm run generate`. Do not edit.

import type { HttpBody } from './api.ts'
import type { ActorJson, Empty, IdRequest, ListOfRequest, ListRequest, PageRequest, PageResponse, Updated } from './types.ts'
/** Collections: tables of entries with typed fields of your own. */
export type Collections = {
  /** Lists collections, newest first. Honours the shared list parameters. Use it to see which collections there are and how many entries they hold. */
  listCollections: { kind: 'server_stream'; request: ListRequest; response: HttpBody }
  /** Creates a collection with its fields. Use it to keep records that are not contacts: events, orders, answers. */
  createCollection: { kind: 'unary'; request: CreateCollectionRequest; response: HttpBody }
  /** Returns a collection. Use it to learn its fields before you write entries. */
  getCollection: { kind: 'unary'; request: IdRequest; response: HttpBody }
  /** Updates a collection. `fields` replaces all fields. Once there are entries, no field can be removed, made unique or given another slug or type, and a field that becomes required needs a default, which entries without a value get. `form` replaces the whole form. A form that makes contacts also needs audience.create, with lists audience_lists.create. Requires at least one field. Use it to rename a collection, to add fields to it, or to open its form. */
  updateCollection: { kind: 'unary'; request: UpdateCollectionRequest; response: Updated }
  /** Deletes a collection and returns it. Its entries are hidden at once and deleted in the background. Use it when nobody needs its entries any more: they cannot be restored. */
  deleteCollection: { kind: 'unary'; request: IdRequest; response: HttpBody }
}

/** Entries of a collection. */
export type Entries = {
  /** Lists the entries of a collection, newest first. Honours the shared list parameters; filter, sort and projection name values as values.<slug>. Use it to read or search a collection. */
  listEntries: { kind: 'server_stream'; request: ListOfRequest; response: HttpBody }
  /** Creates an entry. Values are checked by the fields of the collection; an error names values.<slug>. Fields without a value get their default. Use it to add a record to a collection. */
  createEntry: { kind: 'unary'; request: CreateEntryRequest; response: HttpBody }
  /** Exports entries as CSV: id, createdAt, then a column for each field. filter and sort are those of the list. Cells are written so that no spreadsheet runs them as formulas. Use it to take the entries elsewhere. */
  exportEntries: { kind: 'server_stream'; request: ExportEntriesRequest; response: HttpBody }
  /** Returns an entry. Use it if you know its id; to find an entry by a value, filter the list. */
  getEntry: { kind: 'unary'; request: EntryRequest; response: HttpBody }
  /** Updates an entry: merges the values into those it has; null removes one. Use it to correct or complete a record. */
  updateEntry: { kind: 'unary'; request: UpdateEntryRequest; response: Updated }
  /** Deletes an entry and returns it. Use it to remove a record from a collection. */
  deleteEntry: { kind: 'unary'; request: EntryRequest; response: HttpBody }
}

/** Collection as JSON. */
export type CollectionJson = {
  _id: string
  id: string
  name: string
  slug: string
  description: string
  fields: CollectionFieldJson[]
  entryCount: number
  /** The public form at /f/<id>; null: none. */
  form: CollectionFormJson | null
  createdBy: ActorJson
  createdAt: string
  updatedAt: string
}

/** The public fields of Collection. */
export const collectionFields = {
  'name': 'string',
  'slug': 'string',
  'description': 'string',
  'fields': 'object[]',
  'entryCount': 'number',
  'form': 'object',
  'form.enabled': 'boolean',
  'form.title': 'string',
  'form.submitLabel': 'string',
  'form.redirectUrl': 'string',
  'form.allowedOrigins': 'string[]',
  'form.contact': 'object',
  'form.contact.email': 'string',
  'form.contact.name': 'string',
  'form.contact.attributes': 'object',
  'form.contact.tags': 'string[]',
  'form.contact.lists': 'objectId[]',
  'form.contact.doubleOptIn': 'boolean',
  'form.contact.consent': 'string',
  'createdBy': 'object',
  'createdBy.kind': 'string',
  'createdBy.id': 'string',
  'createdBy.name': 'string',
} as const

/** CollectionField as JSON. */
export type CollectionFieldJson = {
  slug: string
  /** What people see. */
  name: string
  type: 'string' | 'number' | 'boolean' | 'date' | 'enum' | 'email' | 'url' | 'text'
  required: boolean
  /** The value of entries without one; null: none. */
  default: string | number | boolean | null
  /** Allowed values of an enum. */
  options: string[]
  /** Whether no two entries may have the same value. */
  unique: boolean
}

/** A page at /f/<id> and POST /api/forms/<id>/submit, for anyone. */
export type CollectionFormJson = {
  enabled: boolean
  title: string
  submitLabel: string
  redirectUrl: string | null
  allowedOrigins: string[]
  contact: FormContactJson | null
}

/** FormContact as JSON. */
export type FormContactJson = {
  email: string
  name: string | null
  attributes: Record<string, string>
  tags: string[]
  lists: string[]
  doubleOptIn: boolean
  consent: string
}

export type FormDefinition = {
  /** Default: true. */
  enabled?: boolean
  /** Heading of the page. */
  title: string
  /** Text of the button. */
  submitLabel?: string
  /** Where a browser goes after a submission. Default: a page that says thank you. */
  redirectUrl?: string
  /** Origins of other pages that may submit, such as https://www.example.com. */
  allowedOrigins?: string[]
  /** Makes contacts of submissions. */
  contact?: FormContactDefinition | null
}

export type FormContactDefinition = {
  /** Slug of the field with the address, of type email. A submission without an address makes no contact. */
  email: string
  /** Slug of the field with the name, of type string. */
  name?: string
  /** Slugs of fields by the slug of the contact's attribute. Values that do not fit the attribute are left out. */
  attributes?: Record<string, string>
  /** Tags that the contact gets. */
  tags?: string[]
  /** Ids of lists that the contact joins. */
  lists?: string[]
  /** Whether the person must confirm the address first, by a link that the default sender mails, at most three a day to an address, valid for 7 days. Only a confirmation clears an opt-out. Default: false. */
  doubleOptIn?: boolean
  /** What the person agrees to by confirming; kept in the history of the contact. Default: a text with the title. */
  consent?: string
}

export type FieldDefinition = {
  /** 1 to 40 lower-case letters, digits and underscores, starting with a letter. */
  slug: string
  /** What people see. */
  name: string
  /** string: one line. text: several lines. date: ISO 8601. */
  type: 'string' | 'number' | 'boolean' | 'date' | 'enum' | 'email' | 'url' | 'text'
  required?: boolean
  /** The value of entries without one. */
  default?: unknown
  /** Allowed values. An enum needs at least one. */
  options?: string[]
  /** Not for boolean, enum and text, and not with a default. */
  unique?: boolean
}

export type CreateCollectionRequest = {
  name: string
  /** 2 to 40 lower-case letters, digits and hyphens, starting with a letter. Unique in the organization. */
  slug: string
  description?: string
  fields: FieldDefinition[]
  /** The public form. Default: none. */
  form?: FormDefinition | null
}

export type UpdateCollectionRequest = {
  id: string
  name?: string
  slug?: string
  description?: string
  /** Replaces all fields. */
  fields: FieldDefinition[]
  /** Replaces the whole form. */
  form?: FormDefinition | null
}

/** Entry as JSON. */
export type EntryJson = {
  _id: string
  id: string
  collection: string
  /** Values by the slug of their field. */
  values: Record<string, unknown>
  /** How it was created. */
  source: 'api' | 'form'
  createdBy: ActorJson
  createdAt: string
  updatedAt: string
}

/** The public fields of Entry. */
export const entryFields = {
  'collection': 'objectId',
  'values': 'object',
  'source': 'string',
  'createdBy': 'object',
  'createdBy.kind': 'string',
  'createdBy.id': 'string',
  'createdBy.name': 'string',
} as const

export type CreateEntryRequest = {
  id: string
  /** Values by the slug of their field; null counts as not given. */
  values: Record<string, string | number | boolean | null>
}

export type EntryRequest = {
  id: string
  entryId: string
}

export type UpdateEntryRequest = {
  id: string
  entryId: string
  /** New values by the slug of their field; null removes one. */
  values: Record<string, string | number | boolean | null>
}

export type ExportEntriesRequest = {
  id: string
  /** As for the list of entries. */
  filter?: string
  /** As for the list of entries. */
  sort?: string
}

/** Public forms of collections. */
export type Forms = {
  /** Shows the form of a collection: a page made from its fields, without JavaScript. */
  showForm: { kind: 'unary'; request: PageRequest; response: PageResponse }
  /** Submits a form: a flat object of values by the slug of their field, as JSON or URL-encoded, at most 64 KiB. JSON gets 201 and JSON, and the defaults of fields that it leaves out. A browser's form gets the page that follows, or the form again with what was wrong; a box without a tick is false, and an empty field has no value, whatever their defaults. */
  submitForm: { kind: 'unary'; request: PageRequest; response: PageResponse }
  /** Shows the page that asks a person to confirm an address, from the link in a mail. It changes nothing. */
  showConfirmation: { kind: 'unary'; request: PageRequest; response: PageResponse }
  /** Returns whether pages of an origin may submit a form. Internal: the gateway asks for scripts of other origins. */
  checkFormOrigin: { kind: 'unary'; request: CheckFormOriginRequest; response: CheckFormOriginResponse }
  /** Confirms an address. */
  confirm: { kind: 'unary'; request: PageRequest; response: PageResponse }
}

export type CheckFormOriginRequest = {
  /** Id of the collection, as the path names it. */
  id: string
  origin: string
}

export type CheckFormOriginResponse = {
  allowed: boolean
}

/** Short links: addresses under /l/ that lead to a URL and count who follows them. */
export type Links = {
  /** Lists short links, newest first. Honours the shared list parameters. Use it to see which links there are and how often they are followed. */
  listLinks: { kind: 'server_stream'; request: ListRequest; response: HttpBody }
  /** Creates a short link. A slug is unique in the installation, and never given to another link, even after its link is deleted. Use it where a URL is too long to read or to print, or to count who follows it. */
  createLink: { kind: 'unary'; request: CreateLinkRequest; response: HttpBody }
  /** Returns a short link. Use it to see where a link leads and how often it was followed. */
  getLink: { kind: 'unary'; request: IdRequest; response: HttpBody }
  /** Updates a short link. The change applies within half a second. The slug is immutable. Requires at least one field. Use it to send a printed link elsewhere, or to switch it off. */
  updateLink: { kind: 'unary'; request: UpdateLinkRequest; response: Updated }
  /** Deletes a short link with its statistics. Visitors then get a page with status 404. Use it when nobody should follow the link any more. */
  deleteLink: { kind: 'unary'; request: IdRequest; response: HttpBody }
  /** Counts the clicks on a short link by interval, and by referrer, country and kind of device. At most 400 points. Use it to chart how a link does and to see where its visitors come from. */
  getLinkClicks: { kind: 'unary'; request: GetLinkClicksRequest; response: HttpBody }
  /** Redirects to the URL of a short link and counts the click. An unknown, inactive or expired link gets a page with status 404. */
  followLink: { kind: 'unary'; request: PageRequest; response: PageResponse }
  /** Counts the clicks on links that a gateway redirected by itself. Internal: gateways report several times a second. */
  recordVisits: { kind: 'unary'; request: RecordVisitsRequest; response: Empty }
}

export type RecordVisitsRequest = {
  /** At most 1,000. */
  visits: RecordVisitsRequestVisit[]
}

export type RecordVisitsRequestVisit = {
  slug: string
  /** Milliseconds since 1970. */
  at: number
  ip: string
  userAgent: string
  referrer: string
}

/** Link as JSON. */
export type LinkJson = {
  _id: string
  id: string
  /** Where it leads. */
  url: string
  slug: string
  title: string
  /** Whether it leads anywhere. Otherwise it answers with a page and status 404. */
  active: boolean
  /** When it stops to lead anywhere. */
  expiresAt: string | null
  /** Clicks by people. Crawlers, scanners of mails and previews do not count. Up to a second late. */
  clicks: number
  /** The sum of the visitors of each day (UTC). A visitor is an address and a browser, kept as a hash for two days. */
  uniqueClicks: number
  lastClickedAt: string | null
  /** The address to share. */
  shortUrl: string
  createdBy: ActorJson
  createdAt: string
  updatedAt: string
}

/** The public fields of Link. */
export const linkFields = {
  'url': 'string',
  'slug': 'string',
  'title': 'string',
  'active': 'boolean',
  'expiresAt': 'date',
  'clicks': 'number',
  'uniqueClicks': 'number',
  'lastClickedAt': 'date',
  'shortUrl': { type: 'string', isComputed: true },
  'createdBy': 'object',
  'createdBy.kind': 'string',
  'createdBy.id': 'string',
  'createdBy.name': 'string',
} as const

export type CreateLinkRequest = {
  /** http or https, without user name and password. Stored as browsers normalize it. */
  url: string
  /** 3 to 50 lower-case letters, digits and hyphens, not starting with a hyphen. Default: 7 random characters. */
  slug?: string
  title?: string
  /** Default: true. */
  active?: boolean
  /** A time in the future. Default: never. */
  expiresAt?: string
}

export type UpdateLinkRequest = {
  id: string
  url?: string
  title?: string
  active?: boolean
  /** A time in the future; null: never. */
  expiresAt?: string
}

export type GetLinkClicksRequest = {
  id: string
  /** The first interval is the one that contains this time. Default: 29 days before `to`; with `hour`, 29 hours. */
  from?: string
  /** The last interval is the one that contains this time, or the current one. Default: now. */
  to?: string
  /** In UTC. Default: day. Weeks begin on Monday. */
  interval?: 'hour' | 'day' | 'week' | 'month'
}

/** LinkClicks as JSON. */
export type LinkClicksJson = {
  /** Oldest first, also intervals without clicks. */
  series: ClickPointJson[]
  /** By the host that the click came from, most clicks first, at most 50; null: unknown. A day keeps 200 names; clicks by further ones are counted as other. These and the next cover whole days (UTC). */
  referrers: ClickCountJson[]
  /** By ISO 3166-1 code. Empty unless the installation has a database of countries. */
  countries: ClickCountJson[]
  /** By kind of device: desktop, mobile, tablet, tv. */
  devices: ClickCountJson[]
}

/** ClickPoint as JSON. */
export type ClickPointJson = {
  /** Start of the interval. */
  at: string
  clicks: number
  /** First clicks of a visitor on a day. */
  unique: number
}

/** ClickCount as JSON. */
export type ClickCountJson = {
  name: string | null
  clicks: number
}
