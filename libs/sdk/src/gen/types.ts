// Generated from the protos by `npm run generate`. Do not edit.

import type { Filter, KeyedOptions, List, ListQuery, RequestOptions, Sort, UploadFile, UploadOptions } from '../call.ts'

/** Attribute as JSON. */
export type Attribute = {
  _id: string
  id: string
  name: string
  slug: string
  type: 'string' | 'number' | 'boolean' | 'date' | 'enum'
  /** Allowed values of an enum. */
  options: string[]
  /** Whether new contacts must have a value. */
  required: boolean
  createdBy: Actor
  createdAt: string
  updatedAt: string
}

/** Who performed an action. */
export type Actor = {
  kind: 'user' | 'token' | 'import' | 'workflow' | 'system'
  id: string | null
  name: string
}

/** Confirms an update. */
export type Updated = {
  success: boolean
  message: string
}

/** BulkJobStarted as JSON. */
export type BulkJobStarted = {
  jobId: string
}

/** BulkJob as JSON. */
export type BulkJob = {
  _id: string
  id: string
  /** add_to_list and remove_from_list: the members of a list by a filter. erase: one contact, in every service. */
  kind: 'change' | 'delete' | 'undo' | 'add_to_list' | 'remove_from_list' | 'erase'
  dryRun: boolean
  state: 'waiting' | 'active' | 'completed' | 'failed'
  progress: number
  result: BulkResult
  failedReason: string | null
  /** The change as it was given; null for other kinds. */
  change: unknown
  /** The filter as it was given; null for ids and emails. */
  filter: string | null
  /** For an undo: the job that it undoes. For others: the undo that has undone it. */
  undoes: string | null
  undoneBy: string | null
  createdBy: Actor
  finishedAt: string | null
  createdAt: string
  updatedAt: string
}

/** Counts of a job, so far. changed, unchanged and failed add up to matched. */
export type BulkResult = {
  /** Contacts that the selector found. For an undo: contacts that the job had changed. */
  matched: number
  /** Contacts that were changed or deleted; of an undo, restored. */
  changed: number
  unchanged: number
  failed: number
  /** Ids and emails of no contact. */
  notFound: number
  /** Of a dry run: what the first contacts would get, 20 at most. */
  sample: BulkResultSample[]
  /** The first 100 errors. */
  errors: BulkResultBulkError[]
  /** Of add_to_list: contacts that were newly added, and that were on the list already. notFound is 0. */
  added?: number
  alreadyMember?: number
  /** Of remove_from_list: contacts that were removed. */
  removed?: number
  /** Of erase: what each service has erased. */
  services: BulkResultErasedService[]
}

/** BulkResultSample as JSON. */
export type BulkResultSample = {
  contact: string
  changes: BulkResultFieldChange[]
}

/** BulkResultFieldChange as JSON. */
export type BulkResultFieldChange = {
  /** tags, unsubscribed, blocked, blockedReason, lists or attributes.<slug>; deleted for a deletion. */
  field: string
  from: unknown
  to: unknown
}

/** BulkResultBulkError as JSON. */
export type BulkResultBulkError = {
  contact: string
  code: string
  message: string
}

/** BulkResultErasedService as JSON. */
export type BulkResultErasedService = {
  service: string
  state: 'waiting' | 'erased'
  /** Records that were deleted or blanked. */
  records: number
  erasedAt: string | null
}

/** BulkStatus as JSON. */
export type BulkStatus = {
  state: 'waiting' | 'active' | 'completed' | 'failed'
  /** Percentage from 0 to 100; 100 only when complete. */
  progress: number
  result: BulkResult
  failedReason: string | null
}

/** Contact as JSON. */
export type Contact = {
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
  createdBy: Actor
  createdAt: string
  updatedAt: string
}

/** TagCount as JSON. */
export type TagCount = {
  tag: string
  count: number
}

/** What happened in an interval. */
export type GrowthPoint = {
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
export type HistoryEntry = {
  _id: string
  id: string
  contact: string
  subject: 'contact' | 'user'
  /** For example contact.created, contact.blocked, contact.tags_replaced. */
  type: string
  at: string
  actor: Actor
  /** For entries of an account, empty for callers without users.read. */
  data: Record<string, unknown>
}

/** A change of a field or attribute. */
export type AttributeChange = {
  _id: string
  id: string
  contact: string
  type: string
  at: string
  actor: Actor
  /** Field name, or attributes.<slug>. */
  key: string
  from: unknown
  to: unknown
  importJob?: string
  /** Row of the import, from 1. */
  row?: number
}

/** A contact's membership of a list. */
export type ListMembership = {
  _id: string
  id: string
  list: ListName
  addedAt: string
  addedBy: Actor
  /** How the contact was added. */
  source: 'api' | 'import' | 'form' | 'workflow'
}

/** ListName as JSON. */
export type ListName = {
  _id: string
  name: string
}

/** An email that was sent to a contact, or is queued. */
export type ContactEmail = {
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

/** AudienceList as JSON. */
export type AudienceList = {
  _id: string
  id: string
  name: string
  description: string
  tags: string[]
  archived: boolean
  memberCount: number
  /** Members that are neither blocked nor unsubscribed. */
  activeCount: number
  createdBy: Actor
  createdAt: string
  updatedAt: string
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

/** Segment as JSON. */
export type Segment = {
  _id: string
  id: string
  name: string
  description: string
  /** As for the list of contacts; {} matches all contacts. */
  filter: Filter<ContactFields>
  /** As for the list of contacts; {} is newest first. */
  sort: Sort<ContactFields>
  /** What clients show of its contacts; theirs to interpret. */
  columns: string[]
  createdBy: Actor
  createdAt: string
  updatedAt: string
}

/** CountSegmentResponse as JSON. */
export type CountSegmentResponse = {
  count: number
}

/** Campaign as JSON. */
export type Campaign = {
  _id: string
  id: string
  name: string
  subject: string
  /** What mail clients show after the subject. */
  preheader: string | null
  html: string | null
  /** The template that holds the content, instead of html and text. */
  template: string | null
  /** Null: it is made from the HTML. */
  text: string | null
  /** Null: the default sender. */
  sender: string | null
  lists: string[]
  segments: string[]
  excludeLists: string[]
  /** Null: as fast as the quotas of the installation allow. */
  ratePerMinute: number | null
  status: 'draft' | 'scheduled' | 'sending' | 'paused' | 'sent' | 'cancelled' | 'failed'
  /** Why it paused by itself. */
  pausedReason: string | null
  /** Why it could not start at its time. */
  failedReason: string | null
  counts: CampaignCounts
  scheduledAt: string | null
  startedAt: string | null
  finishedAt: string | null
  createdBy: Actor
  /** What is counted of its recipients. */
  track: TrackOptions
  createdAt: string
  updatedAt: string
}

/** How many recipients there are of each kind. recipients = sent + failed + suppressed + waiting. */
export type CampaignCounts = {
  recipients: number
  sent: number
  delivered: number
  bounced: number
  complained: number
  opened: number
  clicked: number
  unsubscribed: number
  suppressed: SuppressedCounts
  failed: number
  waiting: number
}

/** Who got no mail although the campaign names them. */
export type SuppressedCounts = {
  blocked: number
  unsubscribed: number
  /** The address bounced or complained before, or was suppressed by hand. */
  address: number
}

/** What a message counts of its recipients. Programs that only look whether a mail is safe are not counted. */
export type TrackOptions = {
  opens: boolean
  clicks: boolean
}

/** A rendered mail. */
export type Preview = {
  subject: string
  /** Null: the mail is plain text. */
  html: string | null
  text: string
}

/** How many contacts an audience has. Their sum is on the lists and in the segments. */
export type AudienceCounts = {
  /** Who gets the mail, unless something changes before it is sent, or the address is suppressed by hand. */
  recipients: number
  /** On an excluded list. */
  excluded: number
  blocked: number
  unsubscribed: number
  /** The address bounced or complained before. */
  address: number
}

/** What StartCampaign would say. */
export type CampaignReview = {
  /** Every check is ok: the campaign can start. */
  ready: boolean
  /** In the order in which a start makes them. */
  checks: CampaignCheck[]
  /** Absent: the audience cannot be counted; its check says why. */
  audience?: AudienceCounts
}

/** CampaignCheck as JSON. */
export type CampaignCheck = {
  /** content: there is one. rendering: for the first three contacts. unsubscribe: every part has the link. */
  check: 'sender' | 'audience' | 'content' | 'rendering' | 'unsubscribe'
  /** open: it depends on a check that failed. */
  state: 'ok' | 'failed' | 'open'
  /** Why it failed. */
  reason?: string
}

/** One recipient, as ListRecipients shows it. */
export type CampaignRecipient = {
  _id: string
  id: string
  contact: string
  email: string
  status: 'waiting' | 'queued' | 'sent' | 'delivered' | 'opened' | 'clicked' | 'bounced' | 'complained' | 'failed' | 'suppressed'
  /** When the status was reached. */
  at: string
  error: string | null
}

/** CampaignReport as JSON. */
export type CampaignReport = {
  counts: CampaignCounts
  /** Oldest first, without intervals in which nothing happened. Those by hour are kept 30 days. */
  series: MailingPoint[]
  /** The most clicked first: at most 1000. */
  links: MailingLink[]
}

/** MailingPoint as JSON. */
export type MailingPoint = {
  /** Start of the interval in UTC. */
  at: string
  sent: number
  delivered: number
  opened: number
  clicked: number
  /** By the link of the mail. */
  unsubscribed: number
}

/** MailingLink as JSON. */
export type MailingLink = {
  url: string
  /** How often it was opened, those of programs left out. */
  clicks: number
  /** How many recipients opened it. */
  contacts: number
}

/** Template as JSON. */
export type Template = {
  _id: string
  id: string
  name: string
  subject: string | null
  html: string
  /** Plain text. Null: it is made from the HTML. */
  text: string | null
  description: string
  createdBy: Actor
  createdAt: string
  updatedAt: string
}

/** Message as JSON. */
export type Message = {
  _id: string
  id: string
  to: string
  /** The contact it was addressed to, by id or as a recipient of a campaign. */
  contact: string | null
  subject: string
  sender: string | null
  /** Address that it is sent from. */
  from: string
  /** test: the test of a sender. */
  kind: 'transactional' | 'campaign' | 'test'
  campaign: string | null
  /** It only moves on. queued: on its way to the mail server. sent: the server accepted it. bounced: the receiving server refused it. failed: it could not be handed over. suppressed: the contact is blocked, or the address is suppressed. */
  status: 'scheduled' | 'queued' | 'sent' | 'delivered' | 'opened' | 'clicked' | 'bounced' | 'complained' | 'failed' | 'cancelled' | 'suppressed'
  sendAt: string | null
  sentAt: string | null
  /** Why it was not delivered. */
  error: string | null
  /** What happened to it, oldest first. */
  events: MessageEvent[]
  createdAt: string
  updatedAt: string
}

/** MessageEvent as JSON. */
export type MessageEvent = {
  type: 'scheduled' | 'queued' | 'sent' | 'delivered' | 'opened' | 'clicked' | 'bounced' | 'complained' | 'failed' | 'cancelled' | 'suppressed'
  at: string
  /** The reply of the server, or why it ended. */
  detail: string | null
}

/** Domain as JSON. */
export type Domain = {
  _id: string
  id: string
  /** The domain in lower-case ASCII form. */
  domain: string
  /** degraded: verified earlier, but its records have failed repeated checks since. Sending continues. */
  status: 'pending' | 'verified' | 'degraded'
  /** Whether mail may be sent from it. */
  verified: boolean
  verifiedAt: string | null
  lastCheckedAt: string | null
  /** Records to publish, all of them required. */
  sendingRecords: DnsRecord[]
  /** Records to publish only if the domain should receive mail. */
  receivingRecords: DnsRecord[]
  /** Recommended records, not required: DMARC, tracking. */
  recommendedRecords: DnsRecord[]
  provider: 'self-hosted' | 'mailgun'
  createdBy: Actor
  createdAt: string
  updatedAt: string
}

/** DnsRecord as JSON. */
export type DnsRecord = {
  type: 'TXT' | 'CNAME' | 'MX'
  name: string
  value: string
  /** For an MX record. */
  priority?: number
  purpose: 'spf' | 'dkim' | 'tracking' | 'return_path' | 'mx' | 'dmarc'
  required: boolean
  /** Result of the last check: missing (no record), mismatch (another value), conflict (several records where only one is allowed), error (DNS did not answer, so the record's state is unknown). */
  status: 'unknown' | 'ok' | 'missing' | 'mismatch' | 'conflict' | 'error'
  /** Values found in DNS. */
  found: string[]
  /** What is wrong and the likely cause, as text for people. May hold a remark for a correct record. */
  reason: string | null
  checkedAt: string | null
}

/** Sender as JSON. */
export type Sender = {
  _id: string
  id: string
  name: string
  email: string
  replyTo: string | null
  /** Domain of the email, in lower-case ASCII form. */
  domain: string
  delivery: 'provider' | 'hosted' | 'smtp' | 'oauth'
  /** Mail server settings, without the password. */
  smtp: SenderSmtp | null
  /** The connected account, without its tokens. */
  oauth: SenderOauth | null
  /** Whether it is the default sender. An organization has at most one. */
  isDefault: boolean
  /** Id of the owner; null if the account was deleted. */
  owner: string | null
  creator: string
  sharedWith: string[]
  active: boolean
  createdAt: string
  updatedAt: string
}

/** SenderSmtp as JSON. */
export type SenderSmtp = {
  host: string
  port: number
  /** true: TLS from the first byte. false: STARTTLS. */
  secure: boolean
  username: string | null
}

/** SenderOauth as JSON. */
export type SenderOauth = {
  provider: 'google' | 'microsoft'
  /** Email address of the connected account. */
  email: string | null
  connectedAt: string | null
  /** expired: the provider no longer accepts mail from this connection. Connect the account again. */
  status: 'pending' | 'connected' | 'expired'
}

/** SharedUser as JSON. */
export type SharedUser = {
  _id: string
  id: string
  name: string
  email: string
}

/** StartSenderOauthResponse as JSON. */
export type StartSenderOauthResponse = {
  url: string
}

/** Suppression as JSON. */
export type Suppression = {
  _id: string
  id: string
  /** [erased] once its owner was erased: a keyed hash recognizes the address. */
  email: string
  /** hard_bounce: a receiving server rejected the address. complaint: its owner reported mail as spam. manual: added by somebody. */
  kind: 'hard_bounce' | 'complaint' | 'manual'
  /** The reply of the receiving server, or the reason that was given. */
  reason: string
  /** The message that bounced, or that was complained of. */
  message: string | null
  /** The first and the last time, and how often. */
  firstAt: string
  lastAt: string
  count: number
  createdAt: string
  updatedAt: string
}

/** Provider as JSON. */
export type Provider = {
  kind: 'self-hosted' | 'mailgun' | null
  configured: boolean
  region?: string
  /** The account's sending domain, if one was given. */
  domain?: string
  /** For mailgun: the URL to enter there as a webhook, so that deliveries, bounces and complaints are known. It needs the webhookSigningKey. */
  webhookUrl?: string
}

/** Collection as JSON. */
export type Collection = {
  _id: string
  id: string
  name: string
  slug: string
  description: string
  fields: CollectionField[]
  entryCount: number
  /** The public form at /f/<id>; null: none. */
  form: CollectionForm | null
  createdBy: Actor
  createdAt: string
  updatedAt: string
}

/** CollectionField as JSON. */
export type CollectionField = {
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
export type CollectionForm = {
  enabled: boolean
  title: string
  submitLabel: string
  redirectUrl: string | null
  allowedOrigins: string[]
  contact: FormContact | null
}

/** FormContact as JSON. */
export type FormContact = {
  email: string
  name: string | null
  attributes: Record<string, string>
  tags: string[]
  lists: string[]
  doubleOptIn: boolean
  consent: string
}

/** Entry as JSON. */
export type Entry = {
  _id: string
  id: string
  collection: string
  /** Values by the slug of their field. */
  values: Record<string, unknown>
  /** How it was created. */
  source: 'api' | 'form'
  createdBy: Actor
  createdAt: string
  updatedAt: string
}

/** Link as JSON. */
export type Link = {
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
  createdBy: Actor
  createdAt: string
  updatedAt: string
}

/** LinkClicks as JSON. */
export type LinkClicks = {
  /** Oldest first, also intervals without clicks. */
  series: ClickPoint[]
  /** By the host that the click came from, most clicks first, at most 50; null: unknown. A day keeps 200 names; clicks by further ones are counted as other. These and the next cover whole days (UTC). */
  referrers: ClickCount[]
  /** By ISO 3166-1 code. Empty unless the installation has a database of countries. */
  countries: ClickCount[]
  /** By kind of device: desktop, mobile, tablet, tv. */
  devices: ClickCount[]
}

/** ClickPoint as JSON. */
export type ClickPoint = {
  /** Start of the interval. */
  at: string
  clicks: number
  /** First clicks of a visitor on a day. */
  unique: number
}

/** ClickCount as JSON. */
export type ClickCount = {
  name: string | null
  clicks: number
}

/** Registration as JSON. */
export type Registration = {
  /** The session JWT. */
  token: string
  expiresAt: string
  user: User
  organization: Organization
}

/** User as JSON. */
export type User = {
  _id: string
  id: string
  name: string
  email: string
  image: string | null
  role: string
  blocked: boolean
  blockedAt: string | null
  emailVerified: boolean
  tags: string[]
  attributes: Record<string, unknown>
  country: string | null
  timezone: string | null
  language: string | null
  currency: string | null
  lastLoginAt: string | null
  /** When the second factor was set up; null without one. */
  secondFactorAt: string | null
  createdAt: string
  updatedAt: string
}

/** Organization as JSON. */
export type Organization = {
  _id: string
  id: string
  name: string
  createdAt: string
  updatedAt: string
}

/** A session; or mfaRequired with mfaToken and methods, if the account has a second factor. */
export type FirstFactor = {
  /** The session JWT. */
  token?: string
  expiresAt?: string
  user?: User
  /** true, or absent with a session. */
  mfaRequired?: boolean
  /** Valid for 5 minutes and 5 tries. */
  mfaToken?: string
  /** What POST /api/auth/mfa accepts: totp and recovery_code. */
  methods?: string[]
}

/** SignInOptions as JSON. */
export type SignInOptions = {
  /** open: anyone may register an organization. */
  registration: 'open' | 'closed'
  /** Fewest characters of a new password. */
  passwordMinLength: number
  /** Names of the identity providers to sign in with. None is supported yet. */
  oidc: string[]
}

/** SignInOrganization as JSON. */
export type SignInOrganization = {
  _id: string
  name: string
}

/** RequestOtpResponse as JSON. */
export type RequestOtpResponse = {
  success: boolean
  message: string
  /** Id of the request that the code belongs to. Send it with the code. */
  requestId: string
}

/** SignIn as JSON. */
export type SignIn = {
  /** The session JWT. */
  token: string
  expiresAt: string
  user: User
}

/** Impersonation as JSON. */
export type Impersonation = {
  /** The session JWT. */
  token: string
  expiresAt: string
  user: User
  /** Reference of the session, to end it with DELETE /api/users/{id}/sessions/{sessionRef}. */
  sessionRef: string
}

/** ExchangedToken as JSON. */
export type ExchangedToken = {
  access_token: string
  issued_token_type: string
  token_type: 'Bearer'
  /** Lifetime in seconds. */
  expires_in: number
  /** resource.action pairs separated by spaces. */
  scope: string
}

/** RegisteredClient as JSON. */
export type RegisteredClient = {
  client_id: string
  client_secret?: string
  /** Seconds since 1970. */
  client_id_issued_at: number
  /** 0: does not expire. */
  client_secret_expires_at?: number
  client_name?: string
  client_uri?: string
  redirect_uris: string[]
  grant_types: string[]
  response_types: string[]
  token_endpoint_auth_method: string
  scope?: string
}

/** Me as JSON. */
export type Me = {
  kind: 'session' | 'token'
  /** The user, or the token's creator. */
  user: User
  organization: Organization
  role: string
  /** resource.action pairs, or "*" for all of them. */
  permissions: string[]
  /** The token that authenticated the request. */
  token?: MeTokenInUse
  /** Id of the user behind a read-only impersonation. */
  impersonatedBy?: string
  /** Second factor of the user, or of the token's creator. */
  mfa: MeMfa
}

/** MeTokenInUse as JSON. */
export type MeTokenInUse = {
  _id: string
  id: string
  name: string
}

/** MeMfa as JSON. */
export type MeMfa = {
  /** Whether an authenticator app is set up. */
  totp: boolean
  recoveryCodesLeft: number
  /** Whether the organization requires a second factor of its people. */
  required: boolean
}

/** Feature as JSON. */
export type Feature = {
  _id: string
  id: string
  slug: string
  name: string
  description: string
  /** Value for users whose role and own settings do not set it. */
  default: boolean
  /** Values by role name. */
  roles: Record<string, boolean | null>
  createdBy: Actor
  createdAt: string
  updatedAt: string
}

/** Role as JSON. */
export type Role = {
  _id: string
  id: string
  name: string
  kind: 'api' | 'user' | 'both'
  builtIn: boolean
  /** Actions by resource. */
  permissions: Record<string, readonly string[]>
  description: string
  tokenCount: number
  memberCount: number
  createdAt: string
  updatedAt: string
}

/** SavedRole as JSON. */
export type SavedRole = {
  _id: string
  id: string
  name: string
  kind: 'api' | 'user'
  builtIn: boolean
  permissions: Record<string, readonly string[]>
  description: string
  tokenCount: number
  memberCount: number
  /** Numbers of tokens and members whose permissions this request changed. */
  affected: SavedRoleAffected
  /** Permissions that the role gained and lost, as sorted resource.action pairs. */
  gained: string[]
  lost: string[]
  affectedNames: SavedRoleAffectedNames
  createdAt: string
  updatedAt: string
}

/** SavedRoleAffected as JSON. */
export type SavedRoleAffected = {
  tokens: number
  members: number
}

/** At most 50 names each. Empty for callers who may not read tokens or users. */
export type SavedRoleAffectedNames = {
  tokens: string[]
  members: string[]
}

/** Permission as JSON. */
export type Permission = {
  resource: string
  actions: string[]
  description: string
}

/** OrganizationSettings as JSON. */
export type OrganizationSettings = {
  name: string
  /** IANA, such as Europe/Berlin. */
  timezone: string
  /** BCP 47, such as de-DE. */
  language: string
  /** Origins of web pages that may call the API with the organization's API tokens and session JWTs, such as https://app.example.com. */
  allowedOrigins: string[]
  /** Hours until a sign-in expires. */
  sessionHours: number
  /** Whether people need a second factor. */
  requireMfa: boolean
  /** Days that events are kept. */
  eventRetentionDays: number
  /** What campaigns and messages count unless they say otherwise. Nothing, until it is set. */
  defaultTracking: DefaultTracking
}

/** DefaultTracking as JSON. */
export type DefaultTracking = {
  opens: boolean
  clicks: boolean
}

/** Token as JSON. */
export type Token = {
  _id: string
  id: string
  name: string
  description: string
  expiresAt: string | null
  /** Name of an API role. null: the token has its creator's permissions. */
  role: string | null
  active: boolean
  archived: boolean
  tokenPreview: string
  status: 'active' | 'inactive' | 'archived' | 'expired' | 'role-missing' | 'creator-missing'
  createdBy: Actor
  lastUsedAt: string | null
  lastUsedIp: string | null
  /** Addresses and CIDR blocks that it may be used from. Empty: any. */
  allowedIps: string[]
  createdAt: string
  updatedAt: string
}

/** CreatedToken as JSON. */
export type CreatedToken = {
  _id: string
  id: string
  name: string
  description: string
  expiresAt: string | null
  role: string | null
  active: boolean
  archived: boolean
  tokenPreview: string
  status: string
  createdBy: Actor
  lastUsedAt: string | null
  lastUsedIp: string | null
  allowedIps: string[]
  /** The full credential, <orgId>:<secret>. */
  token: string
  createdAt: string
  updatedAt: string
}

/** TokenUse as JSON. */
export type TokenUse = {
  _id: string
  id: string
  resource: string
  action: 'read' | 'create' | 'update' | 'delete'
  count: number
  lastAt: string
}

/** Workspace as JSON. */
export type Workspace = {
  _id: string
  id: string
  name: string
  image: string | null
  /** Maximum number of members and pending invitations together. null: unlimited. */
  seats: number | null
  /** Feature settings of the workspace by feature slug. They do not apply to its members: for a user's effective flags, see GET /api/users/{id}/features. */
  features: Record<string, boolean | null>
  /** Number of members whose account exists. */
  memberCount: number
  createdBy: Actor
  createdAt: string
  updatedAt: string
}

/** Member as JSON. */
export type Member = {
  _id: string
  id: string
  /** Id of the account; null if it was deleted. populate=user includes name, email and image. */
  user: string | null
  role: string
  joinedAt: string
  createdAt: string
  updatedAt: string
}

/** Invitation as JSON. */
export type Invitation = {
  _id: string
  id: string
  email: string
  role: string
  status: 'pending' | 'accepted' | 'declined' | 'expired'
  expiresAt: string
  createdBy: Actor
  createdAt: string
  updatedAt: string
}

/** CreatedInvitation as JSON. */
export type CreatedInvitation = {
  _id: string
  id: string
  email: string
  role: string
  status: 'pending' | 'accepted' | 'declined' | 'expired'
  expiresAt: string
  createdBy: Actor
  /** Link to accept or decline the invitation. Ends in a secret that differs from the mailed one. */
  acceptUrl: string
  createdAt: string
  updatedAt: string
}

/** InvitationPreview as JSON. */
export type InvitationPreview = {
  workspace: WorkspaceSummary
  email: string
  role: string
  invitedBy: InvitationPreviewInviter
  expiresAt: string
  /** Whether the organization has an account with the address. If not, accepting creates one. */
  hasAccount: boolean
}

/** WorkspaceSummary as JSON. */
export type WorkspaceSummary = {
  _id: string
  name: string
  image: string | null
}

/** InvitationPreviewInviter as JSON. */
export type InvitationPreviewInviter = {
  name: string
}

/** AcceptedInvitation as JSON. */
export type AcceptedInvitation = {
  workspace: WorkspaceSummary
  /** Role in the workspace. */
  role: string
  user: UserSummary
}

/** UserSummary as JSON. */
export type UserSummary = {
  _id: string
  name: string
}

/** TotpSetup as JSON. */
export type TotpSetup = {
  /** Base32, to type into an authenticator app. */
  secret: string
  /** The same as otpauth:// URI, to show as a QR code. */
  uri: string
}

/** RecoveryCodes as JSON. */
export type RecoveryCodes = {
  recoveryCodes: string[]
}

/** Session as JSON. */
export type Session = {
  _id: string
  id: string
  /** Opaque reference to the session; not a credential. */
  sessionRef: string
  /** For example "Firefox on Linux", or the client's name for an exchanged credential. */
  device: string
  ip: string | null
  userAgent: string | null
  /** Accurate to a few minutes. */
  lastActiveAt: string
  expiresAt: string
  /** Whether it is the session of this request. */
  current: boolean
  /** Id of the user behind a read-only impersonation. */
  impersonatedBy: string | null
  createdAt: string
  updatedAt: string
}

/** EndedSessions as JSON. */
export type EndedSessions = {
  /** Number of own sessions that were ended. */
  ended: number
}

/** Device as JSON. */
export type Device = {
  _id: string
  id: string
  deviceId: string
  /** For example "Firefox on Linux". */
  name: string
  /** Browser with its last seen version. */
  browser: string | null
  os: string | null
  /** desktop, mobile, tablet, tv, bot or unknown. */
  type: string
  lastIp: string | null
  firstSeenAt: string
  /** Time of the last sign-in from the device. */
  lastSeenAt: string
  /** Whether it is the device of this request. */
  current: boolean
}

/** Activity as JSON. */
export type Activity = {
  _id: string
  id: string
  /** Type of the event, such as session.created, token.created or user.blocked; or user.permissions_changed, token.permissions_changed. */
  type: string
  at: string
  /** The user, the token that acted for the user, or the impersonator. */
  actor: Actor
  data: Record<string, unknown>
}

/** UserWorkspace as JSON. */
export type UserWorkspace = {
  _id: string
  id: string
  workspace: WorkspaceSummary
  /** Role in the workspace. */
  role: string
  joinedAt: string
}

/** Effective value, true or false, of every feature of the organization by slug. */
export type ResolvedFeatures = {
}

/** UserEmail as JSON. */
export type UserEmail = {
  _id: string
  id: string
  subject: string
  /** Address that the email was sent from. */
  sender: string | null
  /** Latest status reached; it never moves back. */
  status: 'queued' | 'sent' | 'delivered' | 'opened' | 'clicked' | 'bounced' | 'failed'
  /** When the receiving server accepted it. */
  sentAt: string | null
  /** Why it was not delivered. */
  error: string | null
}

/** Webhook as JSON. */
export type Webhook = {
  _id: string
  id: string
  name: string
  url: string
  description: string
  /** Types that it receives. Empty: all, also later ones. */
  eventTypes: string[]
  active: boolean
  disabledAt: string | null
  /** user: switched off by a user. failing: nothing but failures for five days. gone: it answered 410. */
  disabledReason: 'user' | 'failing' | 'gone' | null
  /** Names of its own headers. Values are never shown. */
  headers: string[]
  /** Start and end of the signing secret. */
  secretPreview: string
  /** Until when the previous secret signs as well. */
  secretExpiresAt: string | null
  /** Since when every attempt has failed. */
  failingSince: string | null
  lastSuccessAt: string | null
  lastFailureAt: string | null
  /** Deliveries that wait for an attempt; counted up to 10,000. */
  pending: number
  createdBy: Actor
  createdAt: string
  updatedAt: string
}

/** CreatedWebhook as JSON. */
export type CreatedWebhook = {
  _id: string
  id: string
  name: string
  url: string
  description: string
  eventTypes: string[]
  active: boolean
  disabledAt: string | null
  disabledReason: 'user' | 'failing' | 'gone' | null
  headers: string[]
  secretPreview: string
  secretExpiresAt: string | null
  failingSince: string | null
  lastSuccessAt: string | null
  lastFailureAt: string | null
  pending: number
  createdBy: Actor
  /** The signing secret, shown only here: whsec_ and the base64 of 32 random bytes. */
  secret: string
  createdAt: string
  updatedAt: string
}

/** EventTypeDescription as JSON. */
export type EventTypeDescription = {
  type: string
  description: string
  /** JSON Schema of the whole body. */
  schema: Record<string, unknown>
  /** A whole body. */
  example: Record<string, unknown>
}

/** RecoverWebhookResponse as JSON. */
export type RecoverWebhookResponse = {
  /** Number of deliveries that were scheduled. */
  scheduled: number
}

/** WebhookStats as JSON. */
export type WebhookStats = {
  /** Start of the hour. */
  at: string
  delivered: number
  failed: number
}

/** Delivery as JSON. */
export type Delivery = {
  _id: string
  id: string
  endpoint: string
  event: DeliveredEvent
  /** discarded: the endpoint was switched off, too many deliveries waited for it, or the event has expired. */
  state: 'pending' | 'delivered' | 'failed' | 'discarded'
  attemptCount: number
  nextAttemptAt: string | null
  /** HTTP status of the last answer. */
  lastStatus: number | null
  /** Why the last attempt failed. */
  lastError: string | null
  /** Sent by the test of an endpoint. */
  test: boolean
  createdAt: string
  updatedAt: string
}

/** The event of a delivery. */
export type DeliveredEvent = {
  id: string
  type: string
}

/** DeliveryDetails as JSON. */
export type DeliveryDetails = {
  _id: string
  id: string
  endpoint: string
  event: DeliveredEvent
  state: 'pending' | 'delivered' | 'failed' | 'discarded'
  attemptCount: number
  nextAttemptAt: string | null
  lastStatus: number | null
  lastError: string | null
  test: boolean
  request: DeliveryRequest
  /** Newest first. */
  attempts: DeliveryAttempt[]
  createdAt: string
  updatedAt: string
}

/** What was sent in the last attempt. */
export type DeliveryRequest = {
  url: string
  /** The endpoint's own headers have their values masked. */
  headers: Record<string, string>
  /** The exact body; '' without the permission events.read. */
  body: string
}

/** DeliveryAttempt as JSON. */
export type DeliveryAttempt = {
  at: string
  trigger: 'auto' | 'manual'
  status: number | null
  durationMs: number
  error: string | null
  responseHeaders: Record<string, string>
  /** The first 16 KiB; '' without the permission events.read. */
  responseBody: string
}

/** LoggedEvent as JSON. */
export type LoggedEvent = {
  _id: string
  id: string
  /** What happened, for example contact.created. */
  type: string
  at: string
  actor: Actor
  /** With what the actor signed in; null for a service on its own. */
  credential: EventCredential | null
  /** Address of the client. */
  ip: string | null
  /** The X-Request-Id of the request. */
  requestId: string | null
  subject: EventSubject
  /** The data of the event as webhooks receive it, except its changes. */
  data: Record<string, unknown>
  /** What an update changed: the old and the new value of each field, as {field: {from, to}}; null for other events. */
  changes: Record<string, unknown> | null
}

/** EventCredential as JSON. */
export type EventCredential = {
  kind: 'session' | 'token'
  id: string
}

/** The record that an event is about. */
export type EventSubject = {
  /** Kind of record: contact, token, import and so on. */
  kind: string
  id: string
  name: string | null
}

/** ImportUpload as JSON. */
export type ImportUpload = {
  importId: string
  headers: string[]
  /** Data rows. */
  rowCount: number
  /** The first three rows, keyed by header. */
  previewRows: Record<string, string>[]
  delimiter: string
  encoding: string
  expiresAt: string
  /** Suggested mapping of headers to targets. */
  suggestedMapping: Record<string, string>
  /** Rows that repeat the email of an earlier row, by the suggested mapping. */
  duplicateEmails: number
}

/** StartImportResponse as JSON. */
export type StartImportResponse = {
  jobId: string
}

/** ImportStatus as JSON. */
export type ImportStatus = {
  /** A queued job is waiting. delayed is reserved. */
  state: 'waiting' | 'active' | 'completed' | 'failed' | 'delayed'
  /** Percentage from 0 to 100; 100 only when complete. */
  progress: number
  result: ImportResult
  failedReason: string | null
}

/** Counts of a job. The outcomes add up to the total once the job is completed. */
export type ImportResult = {
  /** Data rows of the file. For an undo: contacts that the import created or updated. */
  total: number
  created: number
  /** For an undo: restored contacts. */
  updated: number
  unchanged: number
  /** For an undo: contacts that were kept because they were changed since. */
  skipped: number
  failed: number
  /** For an undo: deleted contacts, which the import had created. */
  removed: number
  /** Rows that repeat the email of an earlier row. */
  duplicatesInFile: number
  /** Rows that would have cleared an opt-out. */
  optOutsKept: number
  /** Duration in milliseconds, so far. */
  durationMs: number
  rowsPerSecond: number
  /** The first 100 errors. */
  errors: ImportResultRowError[]
  errorsUrl: string
  /** New list memberships. */
  addedToLists: number
  /** For a dry run: what the first rows would create or update. */
  preview: ImportResultRowPreview[]
}

/** ImportResultRowError as JSON. */
export type ImportResultRowError = {
  /** 1-based over data rows. */
  row: number
  /** Physical line of the file, from 1. */
  line: number
  /** Header of the column. */
  column: string | null
  /** Target of the column. */
  field: string | null
  value: string
  code: string
  message: string
}

/** ImportResultRowPreview as JSON. */
export type ImportResultRowPreview = {
  row: number
  email: string
  outcome: 'created' | 'updated'
  changes: ImportResultFieldChange[]
}

/** ImportResultFieldChange as JSON. */
export type ImportResultFieldChange = {
  /** email, name, tags, unsubscribed or attributes.<slug>. */
  field: string
  from: unknown
  to: unknown
}

/** ImportJob as JSON. */
export type ImportJob = {
  _id: string
  id: string
  kind: 'import' | 'dry-run' | 'undo'
  fileName: string | null
  state: 'waiting' | 'active' | 'completed' | 'failed' | 'delayed'
  progress: number
  result: ImportResult
  failedReason: string | null
  mapping: Record<string, string>
  duplicateStrategy: string
  tags: string[]
  emptyValues: string
  listIds: string[]
  /** For an undo: the import that it undoes. For an import: the undo that has undone it. */
  undoes: string | null
  undoneBy: string | null
  createdBy: Actor
  startedAt: string | null
  finishedAt: string | null
  createdAt: string
  updatedAt: string
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

export type ContactReference = {
  contactId: string
}

export type Smtp = {
  host: string
  /** 25, 465, 587 or 2525. */
  port: number
  /** TLS from the first byte. Default: true for port 465, otherwise false. */
  secure?: boolean
  username?: string
  /** Write-only. */
  password?: string
}

export type OauthChoice = {
  provider: 'google' | 'microsoft'
}

export type SmtpChange = {
  host?: string
  port?: number
  secure?: boolean
  /** null removes the username and password. */
  username?: string | null
  password?: string
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
  default?: string | number | boolean | null
  /** Allowed values. An enum needs at least one. */
  options?: string[]
  /** Not for boolean, enum and text, and not with a default. */
  unique?: boolean
}

export type FormDefinition = {
  /** Default: true. */
  enabled?: boolean
  /** Heading of the page. */
  title: string
  /** Text of the button. */
  submitLabel?: string
  /** Where a browser goes after a submission. Default: a page that says thank you. */
  redirectUrl?: string | null
  /** Origins of other pages that may submit, such as https://www.example.com. */
  allowedOrigins?: string[]
  /** Makes contacts of submissions. */
  contact?: FormContactDefinition
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

export type UpdateSettingsRequestUpdateTracking = {
  opens?: boolean
  clicks?: boolean
}

export type CreateAttributeBody = {
  name: string
  /** Lower-case letters, digits and underscores, starting with a letter; at most 40 characters. Must not be a field or column name of contacts. */
  slug: string
  type: 'string' | 'number' | 'boolean' | 'date' | 'enum'
  /** Allowed values. An enum needs at least one. */
  options?: string[]
  required?: boolean
}

export type UpdateAttributeBody = {
  name?: string
  /** Allowed values of an enum. Replaces the existing ones. */
  options?: string[]
  required?: boolean
}

/** One selector of contacts, and what to change of them. */
export type ChangeContactsBody = {
  contactIds?: string[]
  emails?: string[]
  /** As for the list of contacts; {} matches all contacts. */
  filter?: Filter<ContactFields>
  change: ContactsChange
  /** Writes nothing: counts what would change, and shows the first changes. */
  dryRun?: boolean
}

/** One selector of contacts. */
export type DeleteContactsBody = {
  contactIds?: string[]
  emails?: string[]
  /** As for the list of contacts; {} matches all contacts. */
  filter?: Filter<ContactFields>
  /** Writes nothing: counts what would be deleted. */
  dryRun?: boolean
}

export type CreateContactBody = {
  email: string
  name?: string
  /** Values by attribute slug. At most 64 KiB of text in all of them. */
  attributes?: Record<string, string | number | boolean | null>
  tags?: string[]
  unsubscribed?: boolean
}

export type UpdateContactBody = {
  email?: string
  name?: string
  unsubscribed?: boolean
}

export type UpdateAttributesBody = {
  /** Values by attribute slug. null removes an attribute. */
  attributes: Record<string, string | number | boolean | null>
}

export type ReplaceTagsBody = {
  tags: string[]
}

export type BlockContactBody = {
  reason?: string
}

export type LinkUserBody = {
  /** null removes the link. */
  userId: string | null
}

export type CreateListBody = {
  name: string
  description?: string
  tags?: string[]
}

export type UpdateListBody = {
  name?: string
  description?: string
  /** Replaces all tags; [] clears them. */
  tags?: string[]
  archived?: boolean
}

/** One selector of contacts. */
export type SelectMembersBody = {
  contactIds?: string[]
  emails?: string[]
  /** As for the list of contacts; {} matches all contacts. */
  filter?: Filter<ContactFields>
}

export type CreateSegmentBody = {
  name: string
  description?: string
  filter: Filter<ContactFields>
  sort?: Sort<ContactFields>
  columns?: string[]
}

export type UpdateSegmentBody = {
  name?: string
  description?: string
  filter?: Filter<ContactFields>
  sort?: Sort<ContactFields>
  /** Replaces all columns; [] clears them. */
  columns?: string[]
}

export type CreateCampaignBody = {
  name: string
  subject: string
  preheader?: string | null
  html?: string | null
  /** Instead of html and text. */
  template?: string | null
  text?: string | null
  sender?: string | null
  lists?: string[]
  segments?: string[]
  /** Who is on one of these gets nothing. */
  excludeLists?: string[]
  /** Mails in any 60 seconds, spread evenly; 0 for no limit of its own. */
  ratePerMinute?: number
  /** What to count. Default: `defaultTracking` of the settings at this time. It needs html: links are replaced by counting ones, and an image counts opens. */
  track?: TrackOptions
}

export type UpdateCampaignBody = {
  name?: string
  subject?: string
  preheader?: string | null
  /** Replaces a template. */
  html?: string | null
  /** Replaces html and text. */
  template?: string | null
  text?: string | null
  sender?: string | null
  lists?: string[]
  segments?: string[]
  excludeLists?: string[]
  /** 0 for no limit of its own. */
  ratePerMinute?: number
  /** Replaces what is counted. A part that is left out is not counted. */
  track?: TrackOptions
}

export type ScheduleCampaignBody = {
  /** In the future, at most a year ahead. */
  at: string
}

export type PreviewCampaignBody = {
  contactId?: string
  subject?: string
  preheader?: string | null
  html?: string | null
  /** Instead of html and text. */
  template?: string | null
  text?: string | null
}

export type TestCampaignBody = {
  /** Who gets it. */
  to: string[]
}

export type CountCampaignAudienceBody = {
  lists?: string[]
  segments?: string[]
  /** Who is on one of these gets nothing. */
  excludeLists?: string[]
}

export type CreateTemplateBody = {
  name: string
  subject?: string | null
  html: string
  text?: string | null
  description?: string
}

export type UpdateTemplateBody = {
  name?: string
  /** null removes it. */
  subject?: string | null
  html?: string
  /** null: it is made from the HTML. */
  text?: string | null
  description?: string
}

export type PreviewTemplateBody = {
  /** The contact to show. */
  contactId?: string
  /** What `data` shows. */
  data?: Record<string, unknown>
  subject?: string | null
  html?: string
  text?: string | null
}

export type SendMessageBody = {
  /** An address, or {"contactId": "…"} for the address that the contact has when the message is sent. */
  to: string | ContactReference
  /** The sender. Default: the organization's default sender. */
  from?: string
  /** Required without a template that has one. It is used instead of that of the template. */
  subject?: string
  /** At least one of html and text, or a template. Without text, the mail has the html only, or with data or a template a text made from it. */
  html?: string
  text?: string
  /** Default: the reply address of the sender. */
  replyTo?: string
  /** Headers to add, at most 10. Their names begin with X-. */
  headers?: Record<string, string>
  /** When to send it, at most 30 days ahead. Default: now. */
  sendAt?: string
  /** Values for the content, which is Liquid if this or a template is given: `data.<name>`, `contact.<email, name, tags, attributes>`, `sender.<name, email>`, `organization.name`, and `unsubscribe_url` if the address is that of a contact. Values are escaped in html. At most 64 KiB. */
  data?: Record<string, unknown>
  /** What to count. Default: `defaultTracking` of the settings. It needs html: links are replaced by counting ones, and an image counts opens. */
  track?: TrackOptions
  /** A template, in place of html and text, as it is now. */
  template?: string
}

export type CreateDomainBody = {
  /** A registrable domain or a subdomain of one; a subdomain is the usual choice. Surrounding white space, case and a final dot are ignored. Non-ASCII letters are converted to their IDNA form. */
  domain: string
}

export type CreateSenderBody = {
  name: string
  email: string
  replyTo?: string | null
  delivery: 'provider' | 'hosted' | 'smtp' | 'oauth'
  smtp?: Smtp
  oauth?: OauthChoice
}

export type UpdateSenderBody = {
  name?: string
  replyTo?: string | null
  active?: boolean
  smtp?: SmtpChange
}

export type ShareSenderBody = {
  userIds: string[]
}

export type TransferSenderBody = {
  userId: string
}

export type TestSenderBody = {
  to: string
}

export type TestSmtpBody = {
  smtp: Smtp
}

export type FinishSenderOauthBody = {
  /** The code that the provider returned. */
  code: string
  state: string
  /** Required if the provider sent it. */
  iss?: string
}

export type CreateSuppressionBody = {
  email: string
  reason?: string
}

export type SetProviderBody = {
  kind: 'self-hosted' | 'mailgun'
  /** For mailgun only. */
  apiKey?: string
  /** us (the default) or eu. */
  region?: 'us' | 'eu'
  /** The account's sending domain, for display only. */
  domain?: string
  /** For mailgun only: the key that signs its webhooks. Write-only and encrypted at rest. Omit it to keep the stored key. */
  webhookSigningKey?: string
}

export type CreateCollectionBody = {
  name: string
  /** 2 to 40 lower-case letters, digits and hyphens, starting with a letter. Unique in the organization. */
  slug: string
  description?: string
  fields: FieldDefinition[]
  /** The public form. Default: none. */
  form?: FormDefinition
}

export type UpdateCollectionBody = {
  name?: string
  slug?: string
  description?: string
  /** Replaces all fields. */
  fields?: FieldDefinition[]
  /** Replaces the whole form. */
  form?: FormDefinition
}

export type CreateEntryBody = {
  /** Values by the slug of their field; null counts as not given. */
  values: Record<string, string | number | boolean | null>
}

export type UpdateEntryBody = {
  /** New values by the slug of their field; null removes one. */
  values: Record<string, string | number | boolean | null>
}

export type CreateLinkBody = {
  /** http or https, without user name and password. Stored as browsers normalize it. */
  url: string
  /** 3 to 50 lower-case letters, digits and hyphens, not starting with a hyphen. Default: 7 random characters. */
  slug?: string
  title?: string
  /** Default: true. */
  active?: boolean
  /** A time in the future. Default: never. */
  expiresAt?: string | null
}

export type UpdateLinkBody = {
  url?: string
  title?: string
  active?: boolean
  /** A time in the future; null: never. */
  expiresAt?: string | null
}

export type RegisterBody = {
  name: string
  email: string
  /** 8 to 200 characters, not one of the most common passwords. */
  password: string
  /** Name of the organization. Default: the user's name. */
  organization?: string
}

export type LoginBody = {
  email: string
  password: string
  /** Required if email and password match accounts of several organizations, or the email has more than four accounts. */
  orgId?: string
}

export type ListSignInOrganizationsBody = {
  email: string
  password: string
}

export type ForgotPasswordBody = {
  email: string
  /** Limits the request to the account of this organization. */
  orgId?: string
}

export type ResetPasswordBody = {
  /** Secret from the mailed link. */
  token: string
  /** 8 to 200 characters, not one of the most common passwords. */
  password: string
  /** Also deactivates the API tokens that the account created, in case someone else knows them. The mail says how many. */
  deactivateTokens?: boolean
}

export type VerifyEmailBody = {
  /** Secret from the mailed link. */
  token: string
}

export type RequestOtpBody = {
  email: string
  /** Limits the request to the account of this organization. */
  orgId?: string
}

export type VerifyOtpBody = {
  email: string
  /** The six digits from the mail. */
  code: string
  /** Required if the email has accounts in several organizations. */
  orgId?: string
  /** requestId of the answer to otp/request. Required if several requests for the email are open. */
  requestId?: string
}

export type VerifyMfaBody = {
  mfaToken: string
  /** The six digits of the authenticator app, or a recovery code. */
  code: string
}

export type ImpersonateBody = {
  userId: string
  /** Why, for the audit trail of both. */
  reason?: string
}

export type ExchangeTokenBody = {
  /** urn:ietf:params:oauth:grant-type:token-exchange */
  grant_type: string
  /** Alternatively, use Authorization: Basic. */
  client_id?: string
  client_secret?: string
  /** The session JWT or API token to exchange. Required. */
  subject_token?: string
  /** urn:ietf:params:oauth:token-type:access_token, or ...:jwt for a session JWT. Required. */
  subject_token_type?: string
  /** urn:ietf:params:oauth:token-type:access_token (the default) or ...:jwt. */
  requested_token_type?: string
  /** resource.action pairs that the subject has, separated by spaces. Default: all of them. */
  scope?: string
  /** The audience of session JWTs, or omitted. */
  audience?: string[]
  /** Must be omitted: the token is for this API only. */
  resource?: string[]
  /** Must be omitted: delegation is not supported. */
  actor_token?: string
  actor_token_type?: string
}

export type RegisterClientBody = {
  /** Name shown in lists of sessions. */
  client_name?: string
  client_uri?: string
  /** https, http on a loopback address, or a private-use scheme with a dot in its name. No fragment. */
  redirect_uris?: string[]
  /** Must include urn:ietf:params:oauth:grant-type:token-exchange if given. Only that one is granted. */
  grant_types?: string[]
  /** Ignored: there is no authorization endpoint. */
  response_types?: string[]
  /** Default: client_secret_basic. A client with none has no secret. A secret is accepted by either method. */
  token_endpoint_auth_method?: 'none' | 'client_secret_basic' | 'client_secret_post'
  /** The resource.action pairs that the client may request, separated by spaces. Default: any. */
  scope?: string
}

export type CreateFeatureBody = {
  /** Lower-case letters, digits, _ and -, starting with a letter; at most 40 characters. Unique and immutable. */
  slug: string
  /** Default: the slug. */
  name?: string
  description?: string
  /** Default: false. */
  default?: boolean
  /** true or false by role name. The roles must be available to members. */
  roles?: Record<string, boolean | null>
}

export type UpdateFeatureBody = {
  name?: string
  description?: string
  default?: boolean
  /** Merged into the existing values. null removes one. */
  roles?: Record<string, boolean | null>
}

export type SaveRoleBody = {
  name: string
  /** Immutable. */
  kind: 'api' | 'user'
  /** Actions (read, create, update, delete) by resource. */
  permissions: Record<string, readonly string[]>
  description?: string
  /** Only shows what the request would change. The id of a role that does not exist yet is then of no use. */
  dryRun?: boolean
}

export type UpdateSettingsBody = {
  name?: string
  /** IANA, such as Europe/Berlin. */
  timezone?: string
  /** BCP 47, such as de-DE. */
  language?: string
  /** At most 50, each with scheme and host only, such as https://app.example.com. Replaces the list. */
  allowedOrigins?: string[]
  /** How long a session lasts. */
  sessionHours?: number
  /** The caller who turns it on must have a second factor. */
  requireMfa?: boolean
  /** How long events are kept. */
  eventRetentionDays?: number
  defaultTracking?: UpdateSettingsRequestUpdateTracking
}

export type CreateTokenBody = {
  name: string
  description?: string
  /** A date in the future. */
  expiresAt?: string | null
  /** Name of an API role. If omitted, the token has its creator's permissions. */
  role?: string
}

export type UpdateTokenBody = {
  name?: string
  description?: string
  active?: boolean
  archived?: boolean
}

export type SetAllowedIpsBody = {
  /** IPv4 or IPv6 addresses, or blocks such as 192.0.2.0/24 and 2001:db8::/32. */
  cidrs: string[]
}

export type CreateWorkspaceBody = {
  name: string
  image?: string | null
  /** An integer of at least 1, or null (the default) for unlimited. */
  seats?: number | null
  /** true or false by feature slug. */
  features?: Record<string, boolean | null>
}

export type UpdateWorkspaceBody = {
  name?: string
  image?: string | null
  /** An integer of at least 1 and not below the seats taken, or null for unlimited. */
  seats?: number | null
  /** Merged into the existing settings. null removes one. */
  features?: Record<string, boolean | null>
}

export type AddMemberBody = {
  /** Email of an account of the organization. */
  email: string
  /** A built-in role or one of kind user. Must not exceed the caller's role in the workspace. */
  role: string
}

export type UpdateMemberBody = {
  role: string
}

export type CreateInvitationBody = {
  email: string
  /** A built-in role or one of kind user. Must not exceed the caller's role in the workspace. */
  role: string
}

export type AcceptInvitationBody = {
  name?: string
  /** 8 to 200 characters, not one of the most common passwords. */
  password?: string
}

export type UpdateAccountBody = {
  name?: string
  image?: string | null
  /** ISO 3166-1, such as DE. */
  country?: string | null
  /** IANA, such as Europe/Berlin. */
  timezone?: string | null
  /** BCP 47, such as de-DE. */
  language?: string | null
  /** ISO 4217. */
  currency?: string | null
}

export type ChangePasswordBody = {
  currentPassword: string
  /** 8 to 200 characters, not one of the most common passwords. */
  newPassword: string
}

export type ChangeEmailBody = {
  email: string
  password: string
}

export type ConfirmTotpBody = {
  /** The six digits that the authenticator app shows. */
  code: string
}

export type RemoveTotpBody = {
  password: string
  /** A code of the authenticator app, or a recovery code. */
  code: string
}

export type RenewRecoveryCodesBody = {
  password: string
  /** A code of the authenticator app, or a recovery code. */
  code: string
}

export type CreateUserBody = {
  name: string
  email: string
  password?: string
  /** A built-in role or one of kind user. Default: user. */
  role?: string
}

export type UpdateUserBody = {
  name?: string
  image?: string | null
  /** ISO 3166-1 alpha-2. */
  country?: string | null
  /** IANA time zone. */
  timezone?: string | null
  /** BCP 47 tag. */
  language?: string | null
  /** ISO 4217. */
  currency?: string | null
  /** Up to 50 scalar values, merged into the existing ones. null removes one. Names consist of letters, digits, _ and -. Texts have at most 1000 characters. */
  attributes?: Record<string, string | number | boolean | null>
}

export type ReplaceUserTagsBody = {
  tags: string[]
}

export type ChangeRoleBody = {
  /** A built-in role or one of kind user. */
  role: string
}

export type SetUserFeaturesBody = {
  /** true, false or null by feature slug. */
  features: Record<string, boolean | null>
}

export type CreateWebhookBody = {
  name: string
  /** https, without user and fragment, on port 443 or 8443. Its host must not have a private address. */
  url: string
  description?: string
  /** Empty, the default: all types. */
  eventTypes?: string[]
  /** Header values by name, at most ten. Not host, content-*, connection, cookie, user-agent, webhook-* and the like. */
  headers?: Record<string, string>
  /** Default: true. */
  active?: boolean
}

export type UpdateWebhookBody = {
  name?: string
  url?: string
  description?: string
  /** Replaces the types. */
  eventTypes?: string[]
  /** Replaces the headers; null keeps the stored value of that name. */
  headers?: Record<string, string | number | boolean | null>
  active?: boolean
}

export type RotateWebhookSecretBody = {
  /** How long the replaced secret signs as well. Default: 24. */
  overlapHours?: number
}

export type TestWebhookBody = {
  /** Default: the first type that the endpoint receives. */
  type?: string
}

export type RecoverWebhookBody = {
  since: string
  /** Default: now. */
  until?: string
  missed?: boolean
}

export type StartImportBody = {
  importId: string
  /** Maps CSV headers to targets: email, name, tags, unsubscribed or an attribute slug. Must map email and name. */
  mapping: Record<string, string>
  /** What to do with existing contacts: update (the default) or skip. */
  duplicateStrategy?: 'update' | 'skip'
  /** Added to every imported contact. */
  tags?: string[]
  /** What a blank cell does to the value of an existing contact: ignore (the default) or clear. */
  emptyValues?: 'ignore' | 'clear'
  /** Lists that every imported contact is added to. Requires audience_lists.create. */
  listIds?: string[]
  /** Writes nothing: counts the outcomes that the rows would have, and previews the first changes. */
  dryRun?: boolean
}

/** The fields of Attribute that filter, sort and projection can name. */
export type AttributeFields = {
  _id: string
  id: string
  createdAt: string
  updatedAt: string
  'name': string
  'slug': string
  'type': 'string' | 'number' | 'boolean' | 'date' | 'enum'
  'options': (string)[]
  'required': boolean
  'createdBy': Record<string, unknown>
  'createdBy.kind': 'user' | 'token' | 'import' | 'workflow' | 'system'
  'createdBy.id': string
  'createdBy.name': string
}

/** The fields of BulkJob that filter, sort and projection can name. */
export type BulkJobFields = {
  _id: string
  id: string
  createdAt: string
  updatedAt: string
  'kind': 'change' | 'delete' | 'undo' | 'add_to_list' | 'remove_from_list' | 'erase'
  'dryRun': boolean
  'state': 'waiting' | 'active' | 'completed' | 'failed'
  'progress': number
  'result': Record<string, unknown>
  'result.matched': number
  'result.changed': number
  'result.unchanged': number
  'result.failed': number
  'result.notFound': number
  'result.sample': (Record<string, unknown>)[]
  'result.errors': (Record<string, unknown>)[]
  'result.added': number
  'result.alreadyMember': number
  'result.removed': number
  'result.services': (Record<string, unknown>)[]
  'failedReason': string
  'change': string | number | boolean
  'filter': string
  'undoes': string
  'undoneBy': string
  'createdBy': Record<string, unknown>
  'createdBy.kind': 'user' | 'token' | 'import' | 'workflow' | 'system'
  'createdBy.id': string
  'createdBy.name': string
  'finishedAt': string
}

/** The fields of Contact that filter, sort and projection can name. */
export type ContactFields = {
  _id: string
  id: string
  createdAt: string
  updatedAt: string
  'email': string
  'name': string
  'attributes': Record<string, unknown>
  'tags': (string)[]
  'unsubscribed': boolean
  'unsubscribedAt': string
  'blocked': boolean
  'blockedAt': string
  'blockedReason': string
  'user': string
  'source': 'api' | 'import' | 'form' | 'workflow'
  'importJob': string
  'emailStatus': 'unknown' | 'ok' | 'bounced' | 'complained'
  'createdBy': Record<string, unknown>
  'createdBy.kind': 'user' | 'token' | 'import' | 'workflow' | 'system'
  'createdBy.id': string
  'createdBy.name': string
  'lists': (string)[]
  [key: `attributes.${string}`]: string | number | boolean
}

/** The fields of HistoryEntry that filter, sort and projection can name. */
export type HistoryEntryFields = {
  _id: string
  id: string
  createdAt: string
  updatedAt: string
  'contact': string
  'subject': 'contact' | 'user'
  'type': string
  'at': string
  'actor': Record<string, unknown>
  'actor.kind': 'user' | 'token' | 'import' | 'workflow' | 'system'
  'actor.id': string
  'actor.name': string
  'data': Record<string, unknown>
  [key: `data.${string}`]: string | number | boolean
}

/** The fields of AttributeChange that filter, sort and projection can name. */
export type AttributeChangeFields = {
  _id: string
  id: string
  createdAt: string
  updatedAt: string
  'contact': string
  'type': string
  'at': string
  'actor': Record<string, unknown>
  'actor.kind': 'user' | 'token' | 'import' | 'workflow' | 'system'
  'actor.id': string
  'actor.name': string
  'key': string
  'from': string | number | boolean
  'to': string | number | boolean
  'importJob': string
  'row': number
}

/** The fields of ListMembership that filter, sort and projection can name. */
export type ListMembershipFields = {
  _id: string
  id: string
  createdAt: string
  updatedAt: string
  'list': Record<string, unknown>
  'list._id': string
  'list.name': string
  'addedAt': string
  'addedBy': Record<string, unknown>
  'addedBy.kind': 'user' | 'token' | 'import' | 'workflow' | 'system'
  'addedBy.id': string
  'addedBy.name': string
  'source': 'api' | 'import' | 'form' | 'workflow'
}

/** The fields of ContactEmail that filter, sort and projection can name. */
export type ContactEmailFields = {
  _id: string
  id: string
  createdAt: string
  updatedAt: string
  'contact': string
  'to': string
  'subject': string
  'sender': string
  'status': 'queued' | 'sent' | 'delivered' | 'opened' | 'clicked' | 'bounced' | 'complained' | 'failed' | 'suppressed'
  'at': string
  'sentAt': string
  'error': string
}

/** The fields of AudienceList that filter, sort and projection can name. */
export type AudienceListFields = {
  _id: string
  id: string
  createdAt: string
  updatedAt: string
  'name': string
  'description': string
  'tags': (string)[]
  'archived': boolean
  'memberCount': number
  'activeCount': number
  'createdBy': Record<string, unknown>
  'createdBy.kind': 'user' | 'token' | 'import' | 'workflow' | 'system'
  'createdBy.id': string
  'createdBy.name': string
}

/** The fields of Segment that filter, sort and projection can name. */
export type SegmentFields = {
  _id: string
  id: string
  createdAt: string
  updatedAt: string
  'name': string
  'description': string
  'filter': Record<string, unknown>
  'sort': Record<string, unknown>
  'columns': (string)[]
  'createdBy': Record<string, unknown>
  'createdBy.kind': 'user' | 'token' | 'import' | 'workflow' | 'system'
  'createdBy.id': string
  'createdBy.name': string
}

/** The fields of Campaign that filter, sort and projection can name. */
export type CampaignFields = {
  _id: string
  id: string
  createdAt: string
  updatedAt: string
  'name': string
  'subject': string
  'preheader': string
  'html': string
  'template': string
  'text': string
  'sender': string
  'lists': (string)[]
  'segments': (string)[]
  'excludeLists': (string)[]
  'ratePerMinute': number
  'status': 'draft' | 'scheduled' | 'sending' | 'paused' | 'sent' | 'cancelled' | 'failed'
  'pausedReason': string
  'failedReason': string
  'counts': Record<string, unknown>
  'counts.recipients': number
  'counts.sent': number
  'counts.delivered': number
  'counts.bounced': number
  'counts.complained': number
  'counts.opened': number
  'counts.clicked': number
  'counts.unsubscribed': number
  'counts.suppressed': Record<string, unknown>
  'counts.suppressed.blocked': number
  'counts.suppressed.unsubscribed': number
  'counts.suppressed.address': number
  'counts.failed': number
  'counts.waiting': number
  'scheduledAt': string
  'startedAt': string
  'finishedAt': string
  'createdBy': Record<string, unknown>
  'createdBy.kind': 'user' | 'token' | 'import' | 'workflow' | 'system'
  'createdBy.id': string
  'createdBy.name': string
  'track': Record<string, unknown>
  'track.opens': boolean
  'track.clicks': boolean
}

/** The fields of CampaignRecipient that filter, sort and projection can name. */
export type CampaignRecipientFields = {
  _id: string
  id: string
  createdAt: string
  updatedAt: string
  'contact': string
  'email': string
  'status': 'waiting' | 'queued' | 'sent' | 'delivered' | 'opened' | 'clicked' | 'bounced' | 'complained' | 'failed' | 'suppressed'
  'at': string
  'error': string
}

/** The fields of Template that filter, sort and projection can name. */
export type TemplateFields = {
  _id: string
  id: string
  createdAt: string
  updatedAt: string
  'name': string
  'subject': string
  'html': string
  'text': string
  'description': string
  'createdBy': Record<string, unknown>
  'createdBy.kind': 'user' | 'token' | 'import' | 'workflow' | 'system'
  'createdBy.id': string
  'createdBy.name': string
}

/** The fields of Message that filter, sort and projection can name. */
export type MessageFields = {
  _id: string
  id: string
  createdAt: string
  updatedAt: string
  'to': string
  'contact': string
  'subject': string
  'sender': string
  'from': string
  'kind': 'transactional' | 'campaign' | 'test'
  'campaign': string
  'status': 'scheduled' | 'queued' | 'sent' | 'delivered' | 'opened' | 'clicked' | 'bounced' | 'complained' | 'failed' | 'cancelled' | 'suppressed'
  'sendAt': string
  'sentAt': string
  'error': string
  'events': (Record<string, unknown>)[]
}

/** The fields of Domain that filter, sort and projection can name. */
export type DomainFields = {
  _id: string
  id: string
  createdAt: string
  updatedAt: string
  'domain': string
  'status': 'pending' | 'verified' | 'degraded'
  'verified': boolean
  'verifiedAt': string
  'lastCheckedAt': string
  'sendingRecords': (Record<string, unknown>)[]
  'receivingRecords': (Record<string, unknown>)[]
  'recommendedRecords': (Record<string, unknown>)[]
  'provider': 'self-hosted' | 'mailgun'
  'createdBy': Record<string, unknown>
  'createdBy.kind': 'user' | 'token' | 'import' | 'workflow' | 'system'
  'createdBy.id': string
  'createdBy.name': string
}

/** The fields of Sender that filter, sort and projection can name. */
export type SenderFields = {
  _id: string
  id: string
  createdAt: string
  updatedAt: string
  'name': string
  'email': string
  'replyTo': string
  'domain': string
  'delivery': 'provider' | 'hosted' | 'smtp' | 'oauth'
  'smtp': Record<string, unknown>
  'smtp.host': string
  'smtp.port': number
  'smtp.secure': boolean
  'smtp.username': string
  'oauth': Record<string, unknown>
  'oauth.provider': 'google' | 'microsoft'
  'oauth.email': string
  'oauth.connectedAt': string
  'oauth.status': 'pending' | 'connected' | 'expired'
  'isDefault': boolean
  'owner': string
  'creator': string
  'sharedWith': (string)[]
  'active': boolean
}

/** The fields of SharedUser that filter, sort and projection can name. */
export type SharedUserFields = {
  _id: string
  id: string
  createdAt: string
  updatedAt: string
  'name': string
  'email': string
}

/** The fields of Suppression that filter, sort and projection can name. */
export type SuppressionFields = {
  _id: string
  id: string
  createdAt: string
  updatedAt: string
  'email': string
  'kind': 'hard_bounce' | 'complaint' | 'manual'
  'reason': string
  'message': string
  'firstAt': string
  'lastAt': string
  'count': number
}

/** The fields of Collection that filter, sort and projection can name. */
export type CollectionFields = {
  _id: string
  id: string
  createdAt: string
  updatedAt: string
  'name': string
  'slug': string
  'description': string
  'fields': (Record<string, unknown>)[]
  'entryCount': number
  'form': Record<string, unknown>
  'form.enabled': boolean
  'form.title': string
  'form.submitLabel': string
  'form.redirectUrl': string
  'form.allowedOrigins': (string)[]
  'form.contact': Record<string, unknown>
  'form.contact.email': string
  'form.contact.name': string
  'form.contact.attributes': Record<string, unknown>
  'form.contact.tags': (string)[]
  'form.contact.lists': (string)[]
  'form.contact.doubleOptIn': boolean
  'form.contact.consent': string
  'createdBy': Record<string, unknown>
  'createdBy.kind': 'user' | 'token' | 'import' | 'workflow' | 'system'
  'createdBy.id': string
  'createdBy.name': string
}

/** The fields of Entry that filter, sort and projection can name. */
export type EntryFields = {
  _id: string
  id: string
  createdAt: string
  updatedAt: string
  'collection': string
  'values': Record<string, unknown>
  'source': 'api' | 'form'
  'createdBy': Record<string, unknown>
  'createdBy.kind': 'user' | 'token' | 'import' | 'workflow' | 'system'
  'createdBy.id': string
  'createdBy.name': string
  [key: `values.${string}`]: string | number | boolean
}

/** The fields of Link that filter, sort and projection can name. */
export type LinkFields = {
  _id: string
  id: string
  createdAt: string
  updatedAt: string
  'url': string
  'slug': string
  'title': string
  'active': boolean
  'expiresAt': string
  'clicks': number
  'uniqueClicks': number
  'lastClickedAt': string
  'createdBy': Record<string, unknown>
  'createdBy.kind': 'user' | 'token' | 'import' | 'workflow' | 'system'
  'createdBy.id': string
  'createdBy.name': string
}

/** The fields of Feature that filter, sort and projection can name. */
export type FeatureFields = {
  _id: string
  id: string
  createdAt: string
  updatedAt: string
  'slug': string
  'name': string
  'description': string
  'default': boolean
  'roles': Record<string, unknown>
  'createdBy': Record<string, unknown>
  'createdBy.kind': 'user' | 'token' | 'import' | 'workflow' | 'system'
  'createdBy.id': string
  'createdBy.name': string
  [key: `roles.${string}`]: string | number | boolean
}

/** The fields of Role that filter, sort and projection can name. */
export type RoleFields = {
  _id: string
  id: string
  createdAt: string
  updatedAt: string
  'name': string
  'kind': 'api' | 'user' | 'both'
  'builtIn': boolean
  'permissions': Record<string, unknown>
  'description': string
  'tokenCount': number
  'memberCount': number
  [key: `permissions.${string}`]: string | number | boolean
}

/** The fields of Token that filter, sort and projection can name. */
export type TokenFields = {
  _id: string
  id: string
  createdAt: string
  updatedAt: string
  'name': string
  'description': string
  'expiresAt': string
  'role': string
  'active': boolean
  'archived': boolean
  'tokenPreview': string
  'status': 'active' | 'inactive' | 'archived' | 'expired' | 'role-missing' | 'creator-missing'
  'createdBy': Record<string, unknown>
  'createdBy.kind': 'user' | 'token' | 'import' | 'workflow' | 'system'
  'createdBy.id': string
  'createdBy.name': string
  'lastUsedAt': string
  'lastUsedIp': string
  'allowedIps': (string)[]
}

/** The fields of TokenUse that filter, sort and projection can name. */
export type TokenUseFields = {
  _id: string
  id: string
  createdAt: string
  updatedAt: string
  'resource': string
  'action': 'read' | 'create' | 'update' | 'delete'
  'count': number
  'lastAt': string
}

/** The fields of Workspace that filter, sort and projection can name. */
export type WorkspaceFields = {
  _id: string
  id: string
  createdAt: string
  updatedAt: string
  'name': string
  'image': string
  'seats': number
  'features': Record<string, unknown>
  'memberCount': number
  'createdBy': Record<string, unknown>
  'createdBy.kind': 'user' | 'token' | 'import' | 'workflow' | 'system'
  'createdBy.id': string
  'createdBy.name': string
  [key: `features.${string}`]: string | number | boolean
}

/** The fields of Member that filter, sort and projection can name. */
export type MemberFields = {
  _id: string
  id: string
  createdAt: string
  updatedAt: string
  'user': string
  'role': string
  'joinedAt': string
}

/** The fields of Invitation that filter, sort and projection can name. */
export type InvitationFields = {
  _id: string
  id: string
  createdAt: string
  updatedAt: string
  'email': string
  'role': string
  'status': 'pending' | 'accepted' | 'declined' | 'expired'
  'expiresAt': string
  'createdBy': Record<string, unknown>
  'createdBy.kind': 'user' | 'token' | 'import' | 'workflow' | 'system'
  'createdBy.id': string
  'createdBy.name': string
}

/** The fields of Session that filter, sort and projection can name. */
export type SessionFields = {
  _id: string
  id: string
  createdAt: string
  updatedAt: string
  'sessionRef': string
  'device': string
  'ip': string
  'userAgent': string
  'lastActiveAt': string
  'expiresAt': string
  'current': boolean
  'impersonatedBy': string
}

/** The fields of Device that filter, sort and projection can name. */
export type DeviceFields = {
  _id: string
  id: string
  createdAt: string
  updatedAt: string
  'deviceId': string
  'name': string
  'browser': string
  'os': string
  'type': string
  'lastIp': string
  'firstSeenAt': string
  'lastSeenAt': string
  'current': boolean
}

/** The fields of User that filter, sort and projection can name. */
export type UserFields = {
  _id: string
  id: string
  createdAt: string
  updatedAt: string
  'name': string
  'email': string
  'image': string
  'role': string
  'blocked': boolean
  'blockedAt': string
  'emailVerified': boolean
  'tags': (string)[]
  'attributes': Record<string, unknown>
  'country': string
  'timezone': string
  'language': string
  'currency': string
  'lastLoginAt': string
  'secondFactorAt': string
  [key: `attributes.${string}`]: string | number | boolean
}

/** The fields of Activity that filter, sort and projection can name. */
export type ActivityFields = {
  _id: string
  id: string
  createdAt: string
  updatedAt: string
  'type': string
  'at': string
  'actor': Record<string, unknown>
  'actor.kind': 'user' | 'token' | 'import' | 'workflow' | 'system'
  'actor.id': string
  'actor.name': string
  'data': Record<string, unknown>
  [key: `data.${string}`]: string | number | boolean
}

/** The fields of UserWorkspace that filter, sort and projection can name. */
export type UserWorkspaceFields = {
  _id: string
  id: string
  createdAt: string
  updatedAt: string
  'workspace': Record<string, unknown>
  'workspace._id': string
  'workspace.name': string
  'workspace.image': string
  'role': string
  'joinedAt': string
}

/** The fields of UserEmail that filter, sort and projection can name. */
export type UserEmailFields = {
  _id: string
  id: string
  createdAt: string
  updatedAt: string
  'subject': string
  'sender': string
  'status': 'queued' | 'sent' | 'delivered' | 'opened' | 'clicked' | 'bounced' | 'failed'
  'sentAt': string
  'error': string
}

/** The fields of Webhook that filter, sort and projection can name. */
export type WebhookFields = {
  _id: string
  id: string
  createdAt: string
  updatedAt: string
  'name': string
  'url': string
  'description': string
  'eventTypes': (string)[]
  'active': boolean
  'disabledAt': string
  'disabledReason': 'user' | 'failing' | 'gone'
  'headers': (string)[]
  'secretPreview': string
  'secretExpiresAt': string
  'failingSince': string
  'lastSuccessAt': string
  'lastFailureAt': string
  'createdBy': Record<string, unknown>
  'createdBy.kind': 'user' | 'token' | 'import' | 'workflow' | 'system'
  'createdBy.id': string
  'createdBy.name': string
}

/** The fields of Delivery that filter, sort and projection can name. */
export type DeliveryFields = {
  _id: string
  id: string
  createdAt: string
  updatedAt: string
  'endpoint': string
  'event': Record<string, unknown>
  'event.id': string
  'event.type': string
  'state': 'pending' | 'delivered' | 'failed' | 'discarded'
  'attemptCount': number
  'nextAttemptAt': string
  'lastStatus': number
  'lastError': string
  'test': boolean
}

/** The fields of LoggedEvent that filter, sort and projection can name. */
export type LoggedEventFields = {
  _id: string
  id: string
  createdAt: string
  updatedAt: string
  'type': string
  'at': string
  'actor': Record<string, unknown>
  'actor.kind': 'user' | 'token' | 'import' | 'workflow' | 'system'
  'actor.id': string
  'actor.name': string
  'credential': Record<string, unknown>
  'credential.kind': 'session' | 'token'
  'credential.id': string
  'ip': string
  'requestId': string
  'subject': Record<string, unknown>
  'subject.kind': string
  'subject.id': string
  'subject.name': string
}

/** The fields of ImportJob that filter, sort and projection can name. */
export type ImportJobFields = {
  _id: string
  id: string
  createdAt: string
  updatedAt: string
  'kind': 'import' | 'dry-run' | 'undo'
  'fileName': string
  'state': 'waiting' | 'active' | 'completed' | 'failed' | 'delayed'
  'progress': number
  'result': Record<string, unknown>
  'result.total': number
  'result.created': number
  'result.updated': number
  'result.unchanged': number
  'result.skipped': number
  'result.failed': number
  'result.removed': number
  'result.duplicatesInFile': number
  'result.optOutsKept': number
  'result.durationMs': number
  'result.rowsPerSecond': number
  'result.errors': (Record<string, unknown>)[]
  'result.errorsUrl': string
  'result.addedToLists': number
  'result.preview': (Record<string, unknown>)[]
  'failedReason': string
  'mapping': Record<string, unknown>
  'duplicateStrategy': string
  'tags': (string)[]
  'emptyValues': string
  'listIds': (string)[]
  'undoes': string
  'undoneBy': string
  'createdBy': Record<string, unknown>
  'createdBy.kind': 'user' | 'token' | 'import' | 'workflow' | 'system'
  'createdBy.id': string
  'createdBy.name': string
  'startedAt': string
  'finishedAt': string
  [key: `mapping.${string}`]: string | number | boolean
}

/** Every call of the API. */
export type Api = {
  /** Custom attributes of contacts, defined by the organization. */
  attributes: {
    /** Lists the attribute definitions. Use it to build forms, filters and import mappings of contacts. Honours the shared list parameters. */
    list(query?: ListQuery<AttributeFields>, options?: RequestOptions): List<Attribute>
    /** Defines an attribute. Use it before contacts or imports set a value of your own. Its slug and type are immutable. */
    create(body: CreateAttributeBody, options?: KeyedOptions): Promise<Attribute>
    /** Updates an attribute. Use it to rename an attribute or to offer more options. Requires at least one of name, options and required. */
    update(id: string, body: UpdateAttributeBody, options?: RequestOptions): Promise<Updated>
    /** Deletes an attribute and its value on every contact. Use it when nobody needs the values any more: they cannot be restored. History is kept. */
    delete(id: string, options?: RequestOptions): Promise<Attribute>
  }
  /** Work on many contacts at once, as background jobs with a dry run, progress and undo. */
  bulk: {
    /** Changes the contacts that exactly one of ids, emails and a filter selects, as a background job. Use it to tag, block, opt out or sort into lists what a filter finds; try it with dryRun first. Each contact gets the history and events of the single calls, once, also if the service restarts meanwhile. An opt-out or a block lasts: unsubscribed can only be set. A filter also requires audience.read, addToLists audience_lists.create, removeFromLists audience_lists.delete. 429 beyond 20 unfinished jobs per organization. */
    changeContacts(body: ChangeContactsBody, options?: RequestOptions): Promise<BulkJobStarted>
    /** Deletes the contacts that exactly one of ids, emails and a filter selects, as a background job. Use it to clean up what a filter finds; try it with dryRun first. For 7 days an undo brings them back. A filter also requires audience.read. 429 beyond 20 unfinished jobs per organization. */
    deleteContacts(body: DeleteContactsBody, options?: RequestOptions): Promise<BulkJobStarted>
    /** Lists the organization's bulk jobs, newest first. Use it to find earlier jobs, also those that were started elsewhere. Honours the shared list parameters. */
    listJobs(query?: ListQuery<BulkJobFields>, options?: RequestOptions): List<BulkJob>
    /** Returns the status of a bulk job. Use it to follow one job and to read its result. Poll until its state is completed or failed. Requires audience.read, or what starting the job requires. */
    getJob(jobId: string, options?: RequestOptions): Promise<BulkStatus>
    /** Cancels an unfinished job. Use it if a job turns out to be wrong while contacts are still to come. Changes made until then are kept; undo takes them back. Requires what starting the job requires. */
    cancelJob(jobId: string, options?: KeyedOptions): Promise<Updated>
    /** Undoes a finished or cancelled job, as a new job. Use it within 7 days if a job should not have happened. Restores every field that nobody has changed since, and deleted contacts with their id, tags, lists and history. A deleted contact whose address was taken meanwhile counts as failed; opt-outs and blocks by others stay. Possible once, then 409. Requires what starting the job requires. */
    undoJob(jobId: string, options?: KeyedOptions): Promise<BulkJobStarted>
  }
  /** Contacts: the people that an organization emails. */
  contacts: {
    /** Lists contacts, newest first. Use it to show, search and page contacts; with pagination=false also to read all that match. Honours the shared list parameters. A filter can also name `lists`, the ids of the lists that a contact is on: {"lists":"<id>"}, {"lists":{"$in":[...]}}, {"lists":{"$nin":[...]}}, {"lists":{"$exists":false}}. */
    list(query?: ListQuery<ContactFields>, options?: RequestOptions): List<Contact>
    /** Downloads contacts as CSV. Use it for a spreadsheet or a backup. Honours filter and sort of the list. Importing the file again changes nothing. */
    export(query?: { filter?: Filter<ContactFields>; sort?: Sort<ContactFields> }, options?: RequestOptions): Promise<Response>
    /** Downloads a CSV template that has the organization's attribute columns. Use it to show people what a file may look like. */
    getImportSample(options?: RequestOptions): Promise<Response>
    /** Lists the tags in use with their number of contacts, most used first, at most 10,000. Use it to offer tags to choose from, or to find misspelt ones. Tags are case-sensitive. */
    countTags(options?: RequestOptions): Promise<TagCount[]>
    /** Returns how the audience grew, a point for each day, week or month in UTC, oldest first, at most 400. Use it for charts: it costs one small read. With `list`, counts the members of that list instead; also requires audience_lists.read. */
    getGrowth(query?: { from?: string; to?: string; interval?: 'day' | 'week' | 'month'; list?: string }, options?: RequestOptions): Promise<GrowthPoint[]>
    /** Returns a contact. Use it if you know the id; to find a contact by email, filter the list. */
    get(id: string, options?: RequestOptions): Promise<Contact>
    /** Creates a contact. Use it for single contacts, such as a sign-up; import a file for many. The email is unique in the organization, regardless of case. */
    create(body: CreateContactBody, options?: KeyedOptions): Promise<Contact>
    /** Updates the core fields of a contact. Use it to correct name and email, or to record an opt-out. Requires at least one field. */
    update(id: string, body: UpdateContactBody, options?: RequestOptions): Promise<Updated>
    /** Merges custom attributes. Use it to change some attributes without reading the others. null removes an attribute. All attributes of a contact together have at most 64 KiB of text, as UTF-8. */
    updateAttributes(id: string, body: UpdateAttributesBody, options?: RequestOptions): Promise<Updated>
    /** Replaces the contact's tags; [] clears them. Use it if you know the complete set of tags. */
    replaceTags(id: string, body: ReplaceTagsBody, options?: RequestOptions): Promise<Updated>
    /** Excludes the contact from all sending. Use it if a person must get no more mail at all, whatever lists they are in. Blocking a blocked contact only changes the reason. */
    block(id: string, body?: BlockContactBody, options?: RequestOptions): Promise<Updated>
    /** Restores a blocked contact. Use it after a block was a mistake or its reason is gone. */
    unblock(id: string, options?: RequestOptions): Promise<Updated>
    /** Links the contact to a user account, replacing an earlier link; null removes the link. Use it to see a person's account and their history as a contact together. An account has at most one contact. Also requires users.read. */
    linkUser(id: string, body: LinkUserBody, options?: RequestOptions): Promise<Updated>
    /** Deletes a contact and returns it. Use it to remove a person from the audience; to only stop mail, block the contact. A linked user account is not changed. */
    delete(id: string, options?: RequestOptions): Promise<Contact>
    /** Downloads everything that is known of a contact, from all services, as JSON. Use it to answer a person who asks what is stored about them. Sections that the caller may not read are left out, and named with the missing permission in `omitted`. The event log records each download. */
    data(id: string, options?: RequestOptions): Promise<Response>
    /** Erases a contact from every service, as a background job. Use it if a person asks to be forgotten; to only remove a contact from the audience, delete it. Also erases messages, campaign recipients, failed rows and uploads that name the address; blanks names and addresses in the event log. Cannot be undone. Poll GET /api/audience/bulk/:jobId: `result.services` shows what is done, within a minute. An address that had opted out or complained stays opted out: if it is created again, it is unsubscribed. Also requires audience.delete. */
    erase(id: string, options?: KeyedOptions): Promise<BulkJobStarted>
    /** Lists all history of the contact and of its linked user account, newest first. Use it to answer what happened to this person, and who did it. Entries of the account (subject user) show type, time and actor. Callers with users.read also see which fields or role changed. */
    listTimeline(id: string, query?: ListQuery<HistoryEntryFields>, options?: RequestOptions): List<HistoryEntry>
    /** Lists the contact's own activities, newest first. Use it for a history without the linked account. */
    listActivities(id: string, query?: ListQuery<HistoryEntryFields>, options?: RequestOptions): List<HistoryEntry>
    /** Lists changes of the contact's fields and attributes, newest first. Use it to see who or which import changed a value, and what it was. */
    listAttributesHistory(id: string, query?: ListQuery<AttributeChangeFields>, options?: RequestOptions): List<AttributeChange>
    /** Lists the contact's list memberships, newest first. Use it to see what the contact is sent. */
    listLists(id: string, query?: ListQuery<ListMembershipFields>, options?: RequestOptions): List<ListMembership>
    /** Lists emails that the organization sent to the contact, newest first. Use it to see what was sent to a person, and what became of it. Mail to an account with the same address is not included. */
    listEmails(id: string, query?: ListQuery<ContactEmailFields>, options?: RequestOptions): List<ContactEmail>
  }
  /** Audience lists: the contacts that a campaign sends to. */
  lists: {
    /** Lists the audience lists, newest first. Use it to choose a list to send to or to add contacts to. Honours the shared list parameters. */
    list(query?: ListQuery<AudienceListFields>, options?: RequestOptions): List<AudienceList>
    /** Creates a list. Use it before contacts are added, or before an import that fills it. The name is unique in the organization, regardless of case. */
    create(body: CreateListBody, options?: KeyedOptions): Promise<AudienceList>
    /** Returns a list. Use it for the name, the state and the number of members of one list. */
    get(id: string, options?: RequestOptions): Promise<AudienceList>
    /** Updates a list. Use it to rename a list, or to archive one that is no longer sent to. Requires at least one field. An archived list accepts no more contacts. */
    update(id: string, body: UpdateListBody, options?: RequestOptions): Promise<Updated>
    /** Deletes a list. Use it for a list made by mistake; archive one that was sent to. Its contacts are kept. 409 while a campaign that is not finished sends to it or excludes it. */
    delete(id: string, options?: RequestOptions): Promise<AudienceList>
    /** Lists the contacts of the list, most recently added first. Use it to see or export who would get a mail to this list. Also requires audience.read. Honours the shared list parameters. */
    listMembers(id: string, query?: ListQuery<ContactFields>, options?: RequestOptions): List<Contact>
    /** Adds contacts by exactly one of ids, emails and a filter. Use it for existing contacts; an import can add new ones to a list by itself. An archived list accepts none. A filter runs as a bulk job: if it is done within 2 seconds, the answer is 200 with its numbers, else 202 with its jobId. Poll GET /api/audience/bulk/:jobId then; its result holds the numbers. triggers.audience.added_to_list fires once per newly added contact. A filter also requires audience.read. 429 beyond 20 unfinished bulk jobs per organization. */
    addMembers(id: string, body: SelectMembersBody, options?: KeyedOptions): Promise<AddMembersResponse>
    /** Removes contacts by exactly one of ids, emails and a filter. Use it to take contacts off a list and keep them in the audience. A filter runs in the background as for adding, and also requires audience.read. */
    removeMembers(id: string, body: SelectMembersBody, options?: RequestOptions): Promise<RemoveMembersResponse>
  }
  /** Segments: named filters of contacts. A segment is no copy: it has the contacts that match now. */
  segments: {
    /** Lists the segments, newest first. Use it to offer them for choice. Honours the shared list parameters. */
    list(query?: ListQuery<SegmentFields>, options?: RequestOptions): List<Segment>
    /** Creates a segment. Use it to keep a filter of contacts for everyone in the organization. The name is unique, regardless of case. The filter is checked as for the list of contacts. */
    create(body: CreateSegmentBody, options?: KeyedOptions): Promise<Segment>
    /** Returns a segment. Use it to show or edit its filter. */
    get(id: string, options?: RequestOptions): Promise<Segment>
    /** Updates a segment. Use it to rename it or to change what it matches. Requires at least one field. */
    update(id: string, body: UpdateSegmentBody, options?: RequestOptions): Promise<Updated>
    /** Deletes a segment and returns it. Use it when nobody needs the filter any more. Its contacts are kept. 409 while a campaign that is not finished sends to it. */
    delete(id: string, options?: RequestOptions): Promise<Segment>
    /** Lists the contacts that match the segment now, in its order. Use it to show or read them. Honours the shared list parameters: `filter` narrows the segment, `sort` replaces its order. */
    listContacts(id: string, query?: ListQuery<ContactFields>, options?: RequestOptions): List<Contact>
    /** Counts the contacts that match the segment now. Use it where only the number matters. Costs a read of all contacts the first time, and again after each change of a contact. */
    count(id: string, options?: RequestOptions): Promise<CountSegmentResponse>
  }
  /** Campaigns: one mail to everybody on some lists or in some segments. */
  campaigns: {
    /** Lists the campaigns, newest first. Use it to see what is prepared, being sent and sent. Honours the shared list parameters. */
    list(query?: ListQuery<CampaignFields>, options?: RequestOptions): List<Campaign>
    /** Creates a campaign as a draft. Use it to prepare a mailing: content, audience and sender can be added and changed until it starts. Its content is its own html and text, or that of a template. */
    create(body: CreateCampaignBody, options?: KeyedOptions): Promise<Campaign>
    /** Returns a campaign. Use it to follow it: `counts` is at most a few seconds old while it is being sent. */
    get(id: string, options?: RequestOptions): Promise<Campaign>
    /** Updates a campaign that is a draft or scheduled. Use it to change its content, audience or sender. Requires at least one field. `ratePerMinute` can change while it is being sent, too. Other fields of a scheduled campaign can change only if you may use its sender: 400 says why not. At its time, the sender must be one that you may use then. */
    update(id: string, body: UpdateCampaignBody, options?: RequestOptions): Promise<Updated>
    /** Deletes a campaign that is a draft or scheduled, and returns it. Use it when it is not going to be sent. */
    delete(id: string, options?: RequestOptions): Promise<Campaign>
    /** Starts a campaign and returns it. Use it to send now. It is checked first: 400 names the first thing that is wrong with the sender, the audience, the content, the unsubscribe link, or how it renders for three of its contacts. The audience is taken when sending starts: contacts that join later get nothing, and nobody gets the mail twice. */
    start(id: string, options?: KeyedOptions): Promise<Campaign>
    /** Schedules a campaign, or moves a scheduled one, and returns it. Use it to send later. It is checked as at the start, now and again at its time; if it is not ready then, it fails, and `failedReason` says why. */
    schedule(id: string, body: ScheduleCampaignBody, options?: KeyedOptions): Promise<Campaign>
    /** Pauses a campaign and returns it. Use it to stop at once and perhaps continue later: within two seconds no further mail is handed over. */
    pause(id: string, options?: KeyedOptions): Promise<Campaign>
    /** Resumes a paused campaign and returns it. Use it to send to those who still wait. */
    resume(id: string, options?: KeyedOptions): Promise<Campaign>
    /** Cancels a campaign and returns it. Use it to end one that is being sent or paused: what was sent stays sent, nobody else gets it. A scheduled campaign becomes a draft again. */
    cancel(id: string, options?: KeyedOptions): Promise<Campaign>
    /** Sends once more to the recipients for whom sending failed, and returns the campaign. Use it when the cause is mended. Includes those for whom it is unknown whether the mail was handed over. */
    retry(id: string, options?: KeyedOptions): Promise<Campaign>
    /** Renders a campaign for a contact and returns the result; nothing is sent. Use it to look at a campaign before it starts. Without contactId it shows the oldest contact of the audience, or a sample. Content of the request is shown instead of what is stored. The links to unsubscribe and to the web version lead nowhere. */
    preview(id: string, body?: PreviewCampaignBody, options?: KeyedOptions): Promise<Preview>
    /** Sends a campaign to some addresses as a test, rendered for the oldest contact of the audience, or a sample. Use it to see the mail in real mail programs before it starts. The subject is marked as a test, and the unsubscribe link leads to a page that says it was one. The campaign does not change. */
    test(id: string, body: TestCampaignBody, options?: KeyedOptions): Promise<Updated>
    /** Counts the contacts of an audience by whether a campaign reaches them. Use it while choosing lists and segments: nothing is stored. Each contact counts once, under the first reason that applies to it. */
    countAudience(body?: CountCampaignAudienceBody, options?: KeyedOptions): Promise<AudienceCounts>
    /** Checks a campaign as its start would, and returns the state of every check with the counts of its audience. Use it to show what is missing before it starts. */
    review(id: string, options?: RequestOptions): Promise<CampaignReview>
    /** Lists the recipients of a campaign and what became of each mail. Use it to find out who did not get it, and why. Empty before the start. Each recipient is kept 30 days after its mail has ended. Honours the shared list parameters. */
    listRecipients(id: string, query?: ListQuery<CampaignRecipientFields>, options?: RequestOptions): List<CampaignRecipient>
    /** Returns the counts of a campaign as they are now, and by hour or day. Use it to compare campaigns and to see when they are read. */
    getReport(id: string, query?: { interval?: 'hour' | 'day' }, options?: RequestOptions): Promise<CampaignReport>
    /** Downloads the recipients of a campaign as CSV. Use it to work on them in a spreadsheet. */
    export(id: string, options?: RequestOptions): Promise<Response>
    /** Creates a draft with the content, audience and sender of a campaign. Use it to send something similar. Its name begins with "Copy of". */
    duplicate(id: string, options?: KeyedOptions): Promise<Campaign>
  }
  /** Templates of mails, in Liquid. They can show `contact.email`, `contact.name`, `contact.tags` and `contact.attributes.<slug>`, `campaign.name`, `organization.name`, `sender.name` and `sender.email`, `unsubscribe_url`, `web_version_url` and `data.<name>`. Values are escaped in HTML. A variable without a value shows nothing. The output of each part has at most 256 KiB and the whole mail takes at most 50 ms. */
  templates: {
    /** Lists the templates, newest first. Use it to offer them for choice. Honours the shared list parameters. */
    list(query?: ListQuery<TemplateFields>, options?: RequestOptions): List<Template>
    /** Creates a template. Use it to write the content of several campaigns or messages once. The name is unique, regardless of case. Content that does not parse is refused with its line and column. */
    create(body: CreateTemplateBody, options?: KeyedOptions): Promise<Template>
    /** Returns a template. Use it to show or edit its content. */
    get(id: string, options?: RequestOptions): Promise<Template>
    /** Updates a template. Use it to change its content. Requires at least one field. What was sent stays as it was. */
    update(id: string, body: UpdateTemplateBody, options?: RequestOptions): Promise<Updated>
    /** Deletes a template and returns it. Use it when nobody needs the content any more. 409 while a campaign that is not finished uses it. */
    delete(id: string, options?: RequestOptions): Promise<Template>
    /** Renders a template for a contact and returns the result; nothing is sent. Use it to look at a template before it is used. Without contactId it shows the oldest contact of the audience, or a sample. Content of the request is shown instead of what is stored. A template has no sender and no campaign: their variables show samples, and the links lead nowhere. */
    preview(id: string, body?: PreviewTemplateBody, options?: KeyedOptions): Promise<Preview>
  }
  /** Single messages: mail of the organization to one address, and what became of it. They are kept for 30 days after their end. Mail of the installation, such as codes and invitations, is not among them. */
  messages: {
    /** Accepts a message to one address and returns it. Use it to send receipts, notices and other mail that one person waits for. It is sent in the background, or at `sendAt`, and retried while the mail server is not available; see the status of the message. A contact that is blocked when the mail server would get the message, and an address that is suppressed, get nothing: the message ends as suppressed. Who may send with a sender: its owner, the users it is shared with, and their API tokens; everybody with this permission may use the default sender. Above the quotas of the installation, messages wait. */
    send(body: SendMessageBody, options?: KeyedOptions): Promise<Message>
    /** Lists the messages of the organization, newest first. Use it to see what was sent and what failed. Recipients of a campaign are messages as soon as it is their turn. Honours the shared list parameters. */
    list(query?: ListQuery<MessageFields>, options?: RequestOptions): List<Message>
    /** Returns a message. Use it to follow one message: `events` says what happened to it and when. */
    get(id: string, options?: RequestOptions): Promise<Message>
    /** Cancels a scheduled message and returns it. Use it before its `sendAt`; in any other status the answer is 409. */
    cancel(id: string, options?: KeyedOptions): Promise<Message>
  }
  /** Sending domains, with the DNS records to publish and their status. */
  domains: {
    /** Lists sending domains, newest first. Use it to see which domains can send, and which need attention. Honours the shared list parameters. */
    list(query?: ListQuery<DomainFields>, options?: RequestOptions): List<Domain>
    /** Returns a domain with its records. Use it to show the records to publish. */
    get(id: string, options?: RequestOptions): Promise<Domain>
    /** Adds a domain and returns the DNS records to publish. Use it before any sender of the domain is created. Requires a configured mail provider: 400 without one, 503 if it does not answer. 409 beyond the limit of domains per organization. */
    create(body: CreateDomainBody, options?: KeyedOptions): Promise<Domain>
    /** Verifies the domain: looks up its sending records at the authoritative DNS servers. Use it once the records are published. If all are correct, returns the verified domain, and a rotated DKIM key becomes active. Otherwise 400 with each failing record and the reason; a verified domain stays verified. 429 if the domain was checked or verified in the last ten seconds. */
    verify(id: string, options?: KeyedOptions): Promise<Domain>
    /** Looks up the records in DNS and returns the domain with a diagnosis of each. Use it to find out why a record is not accepted. Does not change its status. 429 as for verify. */
    check(id: string, options?: KeyedOptions): Promise<Domain>
    /** Creates a new DKIM key. Use it regularly, or if the key may have leaked. Until its record is verified, the sending records list both keys and the old one signs. A domain that was never verified has only the new key. 409 while an earlier new key is not verified yet. */
    rotateDkim(id: string, options?: KeyedOptions): Promise<Domain>
    /** Deletes a domain. Use it when no mail is sent from the domain any more. 409 while a sender uses it. */
    delete(id: string, options?: RequestOptions): Promise<Domain>
  }
  /** Senders: the addresses that mail is sent from, their owners, and the users they are shared with. */
  senders: {
    /** Lists the senders that the caller owns or that are shared with the caller. Use it to choose who a mail comes from. An owner of the organization also sees those whose owner was deleted (owner null). Honours the shared list parameters. */
    list(query?: ListQuery<SenderFields>, options?: RequestOptions): List<Sender>
    /** Creates a sender; the caller becomes its owner and creator. Use it for each address that mail is sent from. The email's domain must be verified, unless delivery is oauth: such a sender is pending until its account is connected. delivery sets how its mail is sent: provider: by the mail provider of its domain (the hosted provider's API, or this installation with the domain's own DKIM key); hosted: by the mail service that this installation uses (SMTP_URL); smtp: by its own mail server, which must be on the public internet, at port 25, 465, 587 or 2525; oauth: by a Google or Microsoft account, connected by consent, without a password. */
    create(body: CreateSenderBody, options?: KeyedOptions): Promise<Sender>
    /** Returns a sender. Use it to see whether one sender is ready. Allowed for its owner and the users it is shared with, and for an owner of the organization if the sender's owner was deleted. */
    get(id: string, options?: RequestOptions): Promise<Sender>
    /** Updates a sender. Use it to change the name that people see, or the mail server. Allowed for its owner only. smtp is merged into the stored settings; 409 if they were changed concurrently. */
    update(id: string, body: UpdateSenderBody, options?: RequestOptions): Promise<Updated>
    /** Deletes a sender. Use it for an address that is no longer sent from. Allowed for its owner only. */
    delete(id: string, options?: RequestOptions): Promise<Sender>
    /** Makes the sender the organization's default. Use it for the address that most mail comes from. Allowed for its owner only. */
    setDefault(id: string, options?: RequestOptions): Promise<Updated>
    /** Shares the sender with more users, who can then see it and send from it. Use it to let colleagues send from this address. Allowed for its creator only, even after the owner has changed; for its owner once the creator's account is deleted. */
    share(id: string, body: ShareSenderBody, options?: RequestOptions): Promise<Updated>
    /** Stops sharing the sender with users. Use it when a colleague should no longer send from this address. Allowed for its creator only, or its owner once the creator's account is deleted. */
    unshare(id: string, body: ShareSenderBody, options?: RequestOptions): Promise<Updated>
    /** Lists the users that the sender is shared with. Use it to review who may send from this address. Allowed for its creator only, or its owner once the creator's account is deleted. */
    listSharedUsers(id: string, query?: ListQuery<SharedUserFields>, options?: RequestOptions): List<SharedUser>
    /** Transfers the sender to another user. Use it when another person becomes responsible for the address. Allowed for its owner, or for an owner of the organization if the sender's owner was deleted. The creator does not change. */
    transfer(id: string, body: TransferSenderBody, options?: RequestOptions): Promise<Updated>
    /** Sends a test mail immediately. Use it after each change of a sender, before mail depends on it. Allowed for the sender's owner only. The message is the server's reply, also if it refused (400). If the address bounced before, success allows sending to it again. If the address belongs to a contact, the mail appears in the contact's emails; a blocked contact gets none. */
    test(id: string, body: TestSenderBody, options?: KeyedOptions): Promise<Updated>
    /** Connects to a mail server and signs in, without sending a mail. Use it before a sender of delivery smtp is saved, to see whether its settings are right. The server must be on the public internet, at port 25, 465, 587 or 2525. If it cannot be reached, or refuses, the message is its reply (400). */
    testSmtp(body: TestSmtpBody, options?: KeyedOptions): Promise<Updated>
    /** Starts connecting the account of an oauth sender and returns the URL to send the user to. Use it when a person presses Connect. Allowed for its owner only, signed in, and not impersonated. The connection must be finished within ten minutes, once, in the same session. */
    startOauth(provider: 'google' | 'microsoft', query: { sender: string }, options?: RequestOptions): Promise<StartSenderOauthResponse>
    /** Finishes connecting the account, in the session that started it: 403 in another one. Use it on the page that the callback leads to. 400 if the request has expired or was used, if the provider refuses, or if the account's address differs from the sender's and the sender's domain is not verified. */
    finishOauth(provider: 'google' | 'microsoft', body: FinishSenderOauthBody, options?: KeyedOptions): Promise<Updated>
  }
  /** Addresses that get no mail of the organization: they bounced, their owners complained, or somebody added them. Account mail (codes, links, invitations) is tried nevertheless. */
  suppressions: {
    /** Lists the suppressed addresses, newest first. Use it to see who gets no mail, and why. Honours the shared list parameters. */
    list(query?: ListQuery<SuppressionFields>, options?: RequestOptions): List<Suppression>
    /** Suppresses an address. Use it for people who asked in another way to get no mail at all, contacts or not. Addresses are compared regardless of case. */
    create(body: CreateSuppressionBody, options?: KeyedOptions): Promise<Suppression>
    /** Returns a suppressed address. Use it to see what the receiving server replied. */
    get(id: string, options?: RequestOptions): Promise<Suppression>
    /** Lifts a suppression, and returns it. Use it when the reason is gone: the next mail to the address is tried. The emailStatus of a contact with the address becomes unknown. */
    delete(id: string, options?: RequestOptions): Promise<Suppression>
  }
  /** The organization's mail provider. */
  providers: {
    /** Returns the configured provider, or the installation's default. Use it to see by whom mail is sent. {"kind":null,"configured":false} if there is none. */
    get(options?: RequestOptions): Promise<Provider>
    /** Sets the provider. Use it once, before domains are added. The API key is write-only and encrypted at rest. It is tested before it is stored: 400 if the provider refuses it, 503 if it does not answer. Omit it to keep the stored key. self-hosted accepts none of the other fields. */
    set(body: SetProviderBody, options?: RequestOptions): Promise<Updated>
    /** Removes the provider and returns it. Use it to return to the installation's default. Until another one is set, no domain can be added or verified. */
    delete(options?: RequestOptions): Promise<Provider>
  }
  /** Collections: tables of entries with typed fields of your own. */
  collections: {
    /** Lists collections, newest first. Honours the shared list parameters. Use it to see which collections there are and how many entries they hold. */
    list(query?: ListQuery<CollectionFields>, options?: RequestOptions): List<Collection>
    /** Creates a collection with its fields. Use it to keep records that are not contacts: events, orders, answers. */
    create(body: CreateCollectionBody, options?: KeyedOptions): Promise<Collection>
    /** Returns a collection. Use it to learn its fields before you write entries. */
    get(id: string, options?: RequestOptions): Promise<Collection>
    /** Updates a collection. `fields` replaces all fields. Once there are entries, no field can be removed, made unique or given another slug or type, and a field that becomes required needs a default, which entries without a value get. `form` replaces the whole form. A form that makes contacts also needs audience.create, with lists audience_lists.create. Requires at least one field. Use it to rename a collection, to add fields to it, or to open its form. */
    update(id: string, body: UpdateCollectionBody, options?: RequestOptions): Promise<Updated>
    /** Deletes a collection and returns it. Its entries are hidden at once and deleted in the background. Use it when nobody needs its entries any more: they cannot be restored. */
    delete(id: string, options?: RequestOptions): Promise<Collection>
  }
  /** Entries of a collection. */
  entries: {
    /** Lists the entries of a collection, newest first. Honours the shared list parameters; filter, sort and projection name values as values.<slug>. Use it to read or search a collection. */
    list(id: string, query?: ListQuery<EntryFields>, options?: RequestOptions): List<Entry>
    /** Creates an entry. Values are checked by the fields of the collection; an error names values.<slug>. Fields without a value get their default. Use it to add a record to a collection. */
    create(id: string, body: CreateEntryBody, options?: KeyedOptions): Promise<Entry>
    /** Exports entries as CSV: id, createdAt, then a column for each field. filter and sort are those of the list. Cells are written so that no spreadsheet runs them as formulas. Use it to take the entries elsewhere. */
    export(id: string, query?: { filter?: Filter<EntryFields>; sort?: Sort<EntryFields> }, options?: RequestOptions): Promise<Response>
    /** Returns an entry. Use it if you know its id; to find an entry by a value, filter the list. */
    get(id: string, entryId: string, options?: RequestOptions): Promise<Entry>
    /** Updates an entry: merges the values into those it has; null removes one. Use it to correct or complete a record. */
    update(id: string, entryId: string, body: UpdateEntryBody, options?: RequestOptions): Promise<Updated>
    /** Deletes an entry and returns it. Use it to remove a record from a collection. */
    delete(id: string, entryId: string, options?: RequestOptions): Promise<Entry>
  }
  /** Short links: addresses under /l/ that lead to a URL and count who follows them. */
  links: {
    /** Lists short links, newest first. Honours the shared list parameters. Use it to see which links there are and how often they are followed. */
    list(query?: ListQuery<LinkFields, 'shortUrl'>, options?: RequestOptions): List<Link>
    /** Creates a short link. A slug is unique in the installation, and never given to another link, even after its link is deleted. Use it where a URL is too long to read or to print, or to count who follows it. */
    create(body: CreateLinkBody, options?: KeyedOptions): Promise<Link>
    /** Returns a short link. Use it to see where a link leads and how often it was followed. */
    get(id: string, options?: RequestOptions): Promise<Link>
    /** Updates a short link. The change applies within half a second. The slug is immutable. Requires at least one field. Use it to send a printed link elsewhere, or to switch it off. */
    update(id: string, body: UpdateLinkBody, options?: RequestOptions): Promise<Updated>
    /** Deletes a short link with its statistics. Visitors then get a page with status 404. Use it when nobody should follow the link any more. */
    delete(id: string, options?: RequestOptions): Promise<Link>
    /** Counts the clicks on a short link by interval, and by referrer, country and kind of device. At most 400 points. Use it to chart how a link does and to see where its visitors come from. */
    getClicks(id: string, query?: { from?: string; to?: string; interval?: 'hour' | 'day' | 'week' | 'month' }, options?: RequestOptions): Promise<LinkClicks>
  }
  /** Signing in and out, and the current caller. */
  authentication: {
    /** Creates an organization and its owner, and signs the owner in. Use it to open a new organization, not to add people to one. Available only if the operator enables it. Until the owner verifies the email address, by a mailed code or link, the organization can only send mail to the owner, and other accounts with the address take precedence. The first verification removes the account's password, sessions and API tokens. */
    register(body: RegisterBody, options?: RequestOptions): Promise<Registration>
    /** Signs in with email and password. Use it for people; programs use API tokens. Also sets the HttpOnly cookie auth_token; over https its name is __Host-auth_token. After 10 failures within 15 minutes, of passwords and codes together, an account is locked for a minute: every attempt gets the same 401. Each further failure doubles the time, up to an hour. Signing in, or resetting the password with the mailed link, ends the lock. For an account with a second factor the answer is mfaRequired without a session, and mfaToken for POST /api/auth/mfa. */
    login(body: LoginBody, options?: RequestOptions): Promise<FirstFactor>
    /** Returns how people can sign in. Use it to show only the ways to sign in that this installation offers. Anyone may call it. It costs no query, and shows settings of the installation only. */
    getSignInOptions(options?: RequestOptions): Promise<SignInOptions>
    /** Lists the organizations of the accounts that an email and a password match, at most four: one of them is the orgId of the sign-in. Use it if signing in answers that orgId is missing. Anyone may call it. It costs four password hashes at most. An unknown email and a wrong password get the same 401 after the same time, and count as failed sign-ins (see login). */
    listSignInOrganizations(body: ListSignInOrganizationsBody, options?: RequestOptions): Promise<SignInOrganization[]>
    /** Ends the caller's session. Use it on shared machines, and to end a session that is no longer needed. */
    logout(options?: RequestOptions): Promise<Updated>
    /** Mails a link to set a new password to the accounts with this email. Use it when a person cannot sign in. The answer is the same if there is none. */
    forgotPassword(body: ForgotPasswordBody, options?: RequestOptions): Promise<Updated>
    /** Sets a new password with the mailed token, once. Use it on the page that the mailed link opens. This also verifies the email address. Ends all sessions of the account, including those exchanged for a session or an API token. API tokens stay active unless deactivateTokens is true. */
    resetPassword(body: ResetPasswordBody, options?: RequestOptions): Promise<Updated>
    /** Changes the email address of an account with the token of the link that POST /api/me/email mailed, once. Use it on the page that the mailed link opens. The new address is verified then, mailed links to set a password stop working, and the old address gets a notice. Anyone with the token may call it; a stranger learns nothing. It costs one transaction. */
    verifyEmail(body: VerifyEmailBody, options?: RequestOptions): Promise<Updated>
    /** Mails a sign-in code to the accounts with this email. Use it to sign in without a password. The code has six digits and is valid once, for 10 minutes and 5 attempts. It belongs to the requestId of the answer; other requests do not invalidate it. An address gets at most 5 codes an hour and 20 a day. The answer is the same beyond that, and if there is no account. */
    requestOtp(body: RequestOtpBody, options?: RequestOptions): Promise<RequestOtpResponse>
    /** Signs in with the mailed code, which also verifies the email address. Use it with the code that the person typed in. The first verification removes the password and the other sessions of the account, since someone else may have created it, and those of other unverified accounts with the address. Also sets the HttpOnly cookie auth_token; over https its name is __Host-auth_token. With its requestId, a code also works while the account is locked (see login). After 30 wrong codes within a day, an address accepts no more codes. For an account with a second factor the answer is as for login. */
    verifyOtp(body: VerifyOtpBody, options?: RequestOptions): Promise<FirstFactor>
    /** Completes a sign-in of an account with a second factor: call it with the mfaToken of login or otp/verify, and a code of the authenticator app or a recovery code. Use it when the answer of either is mfaRequired. Anyone with the token may call it, for five minutes and five tries. Each code works once. Wrong codes count as failed sign-ins (see login), and a locked account gets the same 401. It costs one transaction. A change of the password, the email or the second factor ends the sign-in. Also sets the HttpOnly cookie auth_token; over https its name is __Host-auth_token. */
    verifyMfa(body: VerifyMfaBody, options?: RequestOptions): Promise<SignIn>
    /** Impersonates another user, read-only, for 30 minutes: methods other than GET, HEAD and OPTIONS get 403. Use it to see what a user sees, when they ask for help. Allowed only for owners, admins and tokens with their permissions; no role can grant it. An admin cannot impersonate an owner, and nobody can impersonate themselves or a blocked account. The impersonation is listed among the user's sessions and can be ended there. It ends at once with the credential that started it, and when the impersonator is blocked, deleted or given another role. */
    impersonate(body: ImpersonateBody, options?: KeyedOptions): Promise<Impersonation>
    /** Exchanges a session JWT or an API token for a JWT that is limited to a scope and valid for at most an hour (RFC 8693). Use it to hand a program less than your own rights. For registered clients. Errors, including 401, have the form of RFC 6749, {error, error_description}: only this route and /api/auth/clients do not use the three error shapes. The JWT is valid no longer than the credential it was made from, and is listed among the user's sessions under the client's name. An exchanged JWT or an impersonation cannot be exchanged. Delegation (actor_token) is not supported. Tokens are issued for this API only. */
    exchangeToken(body: ExchangeTokenBody, options?: RequestOptions): Promise<ExchangedToken>
    /** Registers a client for token exchange (RFC 7591). Use it once per program that exchanges tokens. Only this answer contains its secret. A client that is not used within a day, or for 90 days, is deleted. Metadata that is not listed here is ignored. Errors have the form of RFC 7591, {error, error_description}. */
    registerClient(body?: RegisterClientBody, options?: RequestOptions): Promise<RegisteredClient>
    /** Returns the caller: kind of credential, user, organization, role and permissions. Use it to check a credential. */
    getMe(options?: RequestOptions): Promise<Me>
  }
  /** Feature flags of the organization. A user's own setting overrides that of the role, which overrides the default. */
  features: {
    /** Lists features, newest first. Use it to see which features can be switched, and for whom they are on. Honours the shared list parameters. */
    list(query?: ListQuery<FeatureFields>, options?: RequestOptions): List<Feature>
    /** Defines a feature. Use it to introduce a feature to some roles or users first. 409 beyond the limit of features per organization, 200 by default. */
    create(body: CreateFeatureBody, options?: KeyedOptions): Promise<Feature>
    /** Returns a feature. Use it for one feature whose id you know. */
    get(id: string, options?: RequestOptions): Promise<Feature>
    /** Updates a feature. Use it to switch a feature for everyone, or for a role. Requires at least one field. The slug is immutable. */
    update(id: string, body: UpdateFeatureBody, options?: RequestOptions): Promise<Updated>
    /** Deletes a feature, with its settings of users and workspaces. Use it when no program asks for the feature any more. */
    delete(id: string, options?: RequestOptions): Promise<Feature>
  }
  /** Roles: named sets of permissions, for tokens (kind api) or members (kind user). */
  roles: {
    /** Lists roles, built-in ones first. Use it to choose a role for a token or a member. Honours the shared list parameters. */
    list(query?: ListQuery<RoleFields> & { kind?: 'api' | 'user' }, options?: RequestOptions): List<Role>
    /** Returns a role. Use it to show or edit the permissions of one role. */
    get(id: string, options?: RequestOptions): Promise<Role>
    /** Creates a role, or replaces the one with this name. Use it to grant people or tokens exactly what they need. Changed permissions take effect at once for all who have the role. The caller must hold every permission that the role grants, before and after; otherwise 403. With dryRun it changes nothing, and answers what it would change, or the refusal. 409 beyond the limit of roles per organization, 200 by default. */
    save(body: SaveRoleBody, options?: KeyedOptions): Promise<SavedRole>
    /** Deletes a role. Use it for a role that nobody should have any more. No member may have it, and the caller must hold every permission that it grants. Tokens with the role are refused afterwards. */
    delete(id: string, options?: RequestOptions): Promise<Role>
    /** Lists the resources and actions that a role can grant. Use it to draw a matrix of permissions. */
    listPermissions(options?: RequestOptions): Promise<Permission[]>
  }
  /** Settings of the caller's organization. */
  settings: {
    /** Returns the settings. Use it to show them, and to format times for the organization. It costs one read by id. */
    get(options?: RequestOptions): Promise<OrganizationSettings>
    /** Changes settings. Use it to set rules for the whole organization. Requires at least one. They apply from the next request on, sessionHours to new sessions. With requireMfa, people without a second factor get 403 for everything but /api/me and /api/auth until they set one up; API tokens are not affected. It costs one transaction, and clears the organization's cached credentials. */
    update(body: UpdateSettingsBody, options?: RequestOptions): Promise<Updated>
  }
  /** API tokens: credentials for programs. */
  tokens: {
    /** Lists tokens, newest first, without their secrets. Use it to find tokens that are unused or about to expire. Honours the shared list parameters. */
    list(query?: ListQuery<TokenFields>, options?: RequestOptions): List<Token>
    /** Creates a token. Use it for each program, so that each can be revoked alone. Only this answer contains its full value. The role limits routes that require a permission. On routes that only authenticate, any token acts on the senders and workspaces of its creator. A credential limited to a scope cannot create tokens. 409 beyond the limit of tokens per organization, 1,000 by default; deleted tokens do not count. */
    create(body: CreateTokenBody, options?: KeyedOptions): Promise<CreatedToken>
    /** Returns a token. Use it to see the role, expiry and last use of one token. */
    get(id: string, options?: RequestOptions): Promise<Token>
    /** Updates a token. Use it to rename a token, or to switch it off and on again. Requires at least one of name, description, active and archived. Takes effect on the next request. Switching on a token that exceeds the caller's permissions or rank is refused. */
    update(id: string, body: UpdateTokenBody, options?: RequestOptions): Promise<Updated>
    /** Deletes a token. Use it when a program no longer needs access, or its secret may have leaked. It is refused from the next request on. */
    delete(id: string, options?: RequestOptions): Promise<Token>
    /** Lists the permissions that the token has used, most recent first, up to a minute late. Use it to find rights that a token does not need. Routes without a permission do not count. */
    listUsage(id: string, query?: ListQuery<TokenUseFields>, options?: RequestOptions): List<TokenUse>
    /** Sets the addresses that the token may be used from; [] allows any. Use it if a program always calls from the same addresses. Other addresses get 403, from the next request on. Refused for a token that exceeds the caller's permissions or rank, and to the token itself. */
    setAllowedIps(id: string, body: SetAllowedIpsBody, options?: RequestOptions): Promise<Updated>
  }
  /** Workspaces: groups of users with roles. The role in the workspace decides what a member may do: owner and admin manage, user reads, and a custom role grants its actions on workspaces. A token has its creator's role in it. Owners and admins of the organization may do everything. To everyone else the workspace does not exist (404). */
  workspaces: {
    /** Lists the caller's workspaces, newest first. Use it to show the groups that a person belongs to. With workspaces.read, lists all of the organization. */
    list(query?: ListQuery<WorkspaceFields>, options?: RequestOptions): List<Workspace>
    /** Creates a workspace. Use it to group users of the organization around one job. The caller, or the token's creator, becomes its owner and first member, and takes a seat. 409 beyond the limit of workspaces per organization, 1,000 by default. */
    create(body: CreateWorkspaceBody, options?: KeyedOptions): Promise<Workspace>
    /** Returns a workspace. Use it for the name and the seats of one workspace. */
    get(id: string, options?: RequestOptions): Promise<Workspace>
    /** Updates a workspace. Use it to rename a workspace or to change its number of seats. Requires at least one field. */
    update(id: string, body: UpdateWorkspaceBody, options?: RequestOptions): Promise<Updated>
    /** Deletes a workspace with its memberships and invitations. Use it when a group has ended. User accounts are kept. */
    delete(id: string, options?: RequestOptions): Promise<Workspace>
  }
  /** Members of a workspace. */
  members: {
    /** Lists the members, newest first. Use it to see who is in a workspace, and with which role. populate=user includes their accounts. */
    list(id: string, query?: ListQuery<MemberFields>, options?: RequestOptions): List<Member>
    /** Adds an account of the organization by its email. Use it for people who have an account; invite the others. Uses up a pending invitation for it. 403 without a free seat. */
    add(id: string, body: AddMemberBody, options?: KeyedOptions): Promise<Member>
    /** Changes a member's role. Use it to give a member more or fewer rights in this workspace. Only an owner may make or change an owner. Not allowed for the last owner. */
    update(id: string, userId: string, body: UpdateMemberBody, options?: RequestOptions): Promise<Updated>
    /** Removes a member and frees the seat. Use it when a person leaves the group. Only an owner may remove an owner. Not allowed for the last owner. The account and contacts are kept, the invitations that the member sent are revoked. */
    remove(id: string, userId: string, options?: RequestOptions): Promise<Member>
  }
  /** Invitations to a workspace. */
  invitations: {
    /** Lists the invitations, newest first. Use it to see who has not answered yet. */
    list(id: string, query?: ListQuery<InvitationFields>, options?: RequestOptions): List<Invitation>
    /** Mails an invitation. Use it to bring in people without an account, or to ask before adding them. It is valid for seven days and takes a seat while pending; 403 without a free one. If the address has no account, the caller must hold users.create and every permission of the built-in role user, since accepting creates the account; otherwise 403. The answer and the mail contain different links: only the mailed one verifies the email address. 409 beyond the limit of pending invitations per organization, 1,000 by default. */
    create(id: string, body: CreateInvitationBody, options?: KeyedOptions): Promise<CreatedInvitation>
    /** Revokes a pending invitation. Use it if the address was wrong or the person is no longer wanted. Allowed for its sender only, by session or token. */
    revoke(id: string, invitationId: string, options?: RequestOptions): Promise<Invitation>
    /** Returns what a pending invitation offers, for the page that asks to accept it. Use it to show a person what they are asked to join. Anyone with the link may call it, and learns whether its address has an account. It costs five reads. 404 for an unknown, answered or expired one alike. */
    preview(token: string, options?: RequestOptions): Promise<InvitationPreview>
    /** Accepts an invitation, once. Use it on the page that the invitation opens. If the organization has no account with the address, creates one with name and password; its email is verified if the link is the mailed one. If it has one, name and password are ignored, and the link must be the mailed one or the request must come from a session of the account; otherwise 401. Without such a session, the mailed link proves the mailbox: it verifies the email and ends the sessions and the password of an account that was not verified. */
    accept(token: string, body?: AcceptInvitationBody, options?: RequestOptions): Promise<AcceptedInvitation>
    /** Declines an invitation and frees its seat. Use it on the page that the invitation opens. */
    decline(token: string, options?: RequestOptions): Promise<Updated>
  }
  /** The caller's own account. No permission is required. An API token can only read it, an impersonation too. These routes count against the global limit only. */
  account: {
    /** Returns the caller like GET /api/auth/me. Use it to greet the caller, and to show only what their permissions allow. Any credential may call it. It costs two reads by id. */
    get(options?: RequestOptions): Promise<Me>
    /** Updates the own profile. Use it for a page on which people edit their own name, picture, language and time zone. Requires at least one field. For sessions only. It costs one transaction. */
    update(body: UpdateAccountBody, options?: RequestOptions): Promise<Updated>
    /** Changes the own password and ends every other session. Use it for people who know their password; the others reset it. API tokens stay active. For sessions only. It costs two password hashes. Wrong passwords count as failed sign-ins (see login), so a stolen session cannot guess the password: while the account is locked, every attempt gets the same 400. */
    changePassword(body: ChangePasswordBody, options?: KeyedOptions): Promise<Updated>
    /** Mails a link to a new email address, which replaces the present one when POST /api/auth/email/verify is called with the link's token. Use it when a person has a new address. The link is valid once, for 24 hours; a new request replaces it, and a new password or second factor voids it. Wrong passwords count as failed sign-ins (see login). For sessions only. It costs a password hash and a mail; 429 beyond five requests a day, or the limit of mails per address and day. In an organization that is not verified, only its registered owner may have another address. */
    changeEmail(body: ChangeEmailBody, options?: KeyedOptions): Promise<Updated>
    /** Begins to set up a second factor with an authenticator app (TOTP, RFC 6238: 30 seconds, 6 digits). Use it to show the QR code. Returns a new secret in place of one that was not confirmed. It takes effect with totp/confirm, within 15 minutes. For sessions only. It costs two reads and a write. */
    startTotp(options?: KeyedOptions): Promise<TotpSetup>
    /** Turns the second factor on with a code of the new secret. Use it when the app shows its first code. Only this answer contains the ten recovery codes, each of which replaces a code once. Signing in then needs the second factor. Every other session ends; API tokens stay active. For sessions only. It costs one transaction. */
    confirmTotp(body: ConfirmTotpBody, options?: KeyedOptions): Promise<RecoveryCodes>
    /** Turns the second factor off, and deletes the recovery codes. Use it before a change of phones. Refused while the organization requires a second factor. Wrong passwords and codes count as failed sign-ins (see login). For sessions only. It costs a password hash and a transaction. */
    removeTotp(body: RemoveTotpBody, options?: RequestOptions): Promise<Updated>
    /** Replaces the recovery codes by ten new ones, which only this answer contains. Use it when few are left, or somebody may have seen them. Wrong passwords and codes count as failed sign-ins (see login). For sessions only. It costs a password hash and a transaction. */
    renewRecoveryCodes(body: RenewRecoveryCodesBody, options?: KeyedOptions): Promise<RecoveryCodes>
    /** Lists the own active sessions, latest sign-in first. Use it to let people check where they are signed in. For sessions only. It costs one query of the account's sessions. */
    listSessions(query?: ListQuery<SessionFields>, options?: RequestOptions): List<Session>
    /** Ends one of the own sessions at once. Use it to sign out of a machine that is out of reach. For sessions only. It costs one transaction. */
    revokeSession(sessionRef: string, options?: RequestOptions): Promise<Session>
    /** Ends all own sessions but this one at once, including those exchanged for a client and impersonations of the account. Use it when someone else may have signed in. For sessions only. It costs one transaction with an event per session. */
    revokeOtherSessions(options?: RequestOptions): Promise<EndedSessions>
    /** Lists the devices that the caller signed in from in the last year, latest sign-in first. Use it to let people recognize a sign-in that was not theirs. For sessions only. It costs one query of the account's devices. */
    listDevices(query?: ListQuery<DeviceFields>, options?: RequestOptions): List<Device>
    /** Removes one of the own devices and ends its sessions at once. Use it for a device that was lost or sold. For sessions only. It costs one transaction with an event per session. */
    revokeDevice(deviceId: string, options?: RequestOptions): Promise<Device>
  }
  /** User accounts of the organization. Owners rank above admins, admins above everyone else. Changing an account of a higher rank, or granting a higher rank, is 403. */
  users: {
    /** Lists users, newest first. Use it to find accounts by name, role or state. Honours the shared list parameters. */
    list(query?: ListQuery<UserFields>, options?: RequestOptions): List<User>
    /** Returns a user. Use it for one account whose id you know. */
    get(id: string, options?: RequestOptions): Promise<User>
    /** Creates an account. Use it to give a colleague access to the whole organization; invite guests to a workspace. Without a password, the user gets a mail to set one. Passwords are hashed one at a time: 429 while two others of the organization, or from the caller's address, are waiting. 409 beyond the limit of accounts per organization, 10,000 by default. */
    create(body: CreateUserBody, options?: KeyedOptions): Promise<User>
    /** Updates the profile. Use it to correct a colleague's profile. Requires at least one field. Not allowed for an account of a higher rank. */
    update(id: string, body: UpdateUserBody, options?: RequestOptions): Promise<Updated>
    /** Replaces the user's tags; [] clears them. Use it to group accounts for your own purposes. */
    replaceTags(id: string, body: ReplaceUserTagsBody, options?: RequestOptions): Promise<Updated>
    /** Turns the second factor of a user off, and ends all sessions of the user, who gets a notice by mail. Use it when somebody has lost the phone and the recovery codes. Not allowed for oneself, or for a user of higher rank. */
    resetTotp(id: string, options?: RequestOptions): Promise<Updated>
    /** Blocks the user: all sessions end at once, sign-in is refused, and the invitations that the user sent are revoked. Use it to stop access at once without losing the account. Not allowed for oneself or the last owner. */
    block(id: string, options?: RequestOptions): Promise<Updated>
    /** Unblocks the user. Use it to let a blocked user sign in again. Ended sessions are not restored. */
    unblock(id: string, options?: RequestOptions): Promise<Updated>
    /** Changes the organization-level role, with effect at once. Use it when a person's job changes. The new role must not exceed the caller's permissions or rank. Not allowed for the last owner. */
    changeRole(id: string, body: ChangeRoleBody, options?: RequestOptions): Promise<Updated>
    /** Deletes the account permanently: its sessions end, its tokens are refused, the invitations that it sent are revoked. Use it when a person has left for good; block the account if you are not sure. Contacts are kept. Not allowed for oneself or the last owner. */
    delete(id: string, options?: RequestOptions): Promise<User>
    /** Lists the user's active sessions. Use it to see where a user is signed in right now. */
    listSessions(id: string, query?: ListQuery<SessionFields>, options?: RequestOptions): List<Session>
    /** Lists the devices that the user signed in from in the last year. Use it to look into a suspicious sign-in. */
    listDevices(id: string, query?: ListQuery<DeviceFields>, options?: RequestOptions): List<Device>
    /** Lists the user's sign-ins and changes, and impersonations of the user, newest first. Use it to audit what happened to an account. */
    listActivities(id: string, query?: ListQuery<ActivityFields>, options?: RequestOptions): List<Activity>
    /** Lists the workspaces that the user is a member of, newest first. Use it before an account is deleted, or to review access. */
    listWorkspaces(id: string, query?: ListQuery<UserWorkspaceFields>, options?: RequestOptions): List<UserWorkspace>
    /** Returns the user's effective feature flags. Use it in programs that switch their functions by user. The user's own setting overrides that of the role, which overrides the default. */
    getFeatures(id: string, options?: RequestOptions): Promise<ResolvedFeatures>
    /** Switches features on or off for this user. Use it to try a feature with a few people. null removes the user's own setting. Other features are unchanged. */
    setFeatures(id: string, body: SetUserFeaturesBody, options?: RequestOptions): Promise<Updated>
    /** Lists emails that were sent to the user's address, newest first. Use it when a user says that a mail did not arrive. */
    listEmails(id: string, query?: ListQuery<UserEmailFields>, options?: RequestOptions): List<UserEmail>
    /** Ends a session at once. Use it to sign a user out in one place. */
    revokeSession(id: string, sessionRef: string, options?: RequestOptions): Promise<Session>
    /** Removes a device and ends its sessions at once. Use it when a user's device was lost. */
    revokeDevice(id: string, deviceId: string, options?: RequestOptions): Promise<Device>
  }
  /** Webhook endpoints: URLs that receive events, signed as Standard Webhooks specifies. */
  webhooks: {
    /** Lists endpoints, newest first. Honours the shared list parameters. Use it to see where events go and which endpoints fail. */
    list(query?: ListQuery<WebhookFields, 'pending'>, options?: RequestOptions): List<Webhook>
    /** Creates an endpoint. Only this answer and that of a rotation contain the signing secret. The caller needs events.read besides, because the endpoint receives what the event log shows. Use it to hear of changes without asking again and again. */
    create(body: CreateWebhookBody, options?: KeyedOptions): Promise<CreatedWebhook>
    /** Lists the types of events, with a description, the JSON Schema of the body and an example. An array, sorted by type. Use it to choose types, and to test a receiver with the examples. */
    listEventTypes(options?: RequestOptions): Promise<EventTypeDescription[]>
    /** Returns an endpoint. Use it to see whether an endpoint fails and how much waits for it. */
    get(id: string, options?: RequestOptions): Promise<Webhook>
    /** Updates an endpoint. active: true switches it on again and forgets its failures. A change of the URL or more event types need events.read. Use it to move an endpoint, to choose other types, or to switch it off or on. */
    update(id: string, body: UpdateWebhookBody, options?: RequestOptions): Promise<Updated>
    /** Deletes an endpoint with its deliveries. Use it when nobody listens there any more. */
    delete(id: string, options?: RequestOptions): Promise<Webhook>
    /** Makes a new signing secret and returns it. The old one signs as well during the overlap, 24 hours by default; at most two old ones do. Use it when the secret may be known to others, or from time to time. */
    rotateSecret(id: string, body?: RotateWebhookSecretBody, options?: KeyedOptions): Promise<CreatedWebhook>
    /** Sends the example of an event type to the endpoint at once, also if it is off. The body has test: true. 400 with the status and the first line of the answer if the endpoint does not accept it. Does not count in its statistics. Use it to see whether a receiver checks signatures and answers in time. */
    test(id: string, body?: TestWebhookBody, options?: KeyedOptions): Promise<Updated>
    /** Delivers again what failed within a period; with missed: true also events that came while the endpoint was off. Reaches back 14 days at most, or as long as events are kept. At most 10,000 deliveries. Use it after an outage of the receiver. */
    recover(id: string, body: RecoverWebhookBody, options?: KeyedOptions): Promise<RecoverWebhookResponse>
    /** Counts deliveries by hour of their last attempt, oldest first, also hours without any. Use it to chart how an endpoint does. */
    getStats(id: string, query?: { hours?: number }, options?: RequestOptions): Promise<WebhookStats[]>
  }
  /** Deliveries of events to webhook endpoints. They are kept for 30 days. */
  deliveries: {
    /** Lists the deliveries of an endpoint, newest first. Honours the shared list parameters. Use it to find out what an endpoint got, and what failed. */
    list(id: string, query?: ListQuery<DeliveryFields>, options?: RequestOptions): List<Delivery>
    /** Returns a delivery with the exact request and every attempt. Bodies need the permission events.read. Use it to see why an attempt failed. */
    get(id: string, options?: RequestOptions): Promise<DeliveryDetails>
    /** Makes one attempt at once, whatever the state of the delivery, and returns it. The id of the event stays the same. Bodies need the permission events.read. Use it when the receiver is mended. */
    replay(id: string, options?: KeyedOptions): Promise<DeliveryDetails>
  }
  /** The event log: everything that happened in the organization except mail to accounts, and who did it. Nobody can change it. */
  events: {
    /** Lists events, newest first. Honours the shared list parameters. Use it to answer who did what, when and from where. */
    list(query?: ListQuery<LoggedEventFields, 'data' | 'changes'>, options?: RequestOptions): List<LoggedEvent>
    /** Downloads the events that match a filter as CSV, in the order of `sort`. Use it to keep the log longer than the retention, or to search it elsewhere. */
    export(query?: { filter?: Filter<LoggedEventFields>; sort?: Sort<LoggedEventFields> }, options?: RequestOptions): Promise<Response>
    /** Returns an event. The id is that of the webhook-id header. Use it to fetch the data of an event that a webhook named. */
    get(id: string, options?: RequestOptions): Promise<LoggedEvent>
  }
  /** Imports contacts from CSV in three steps: upload, start, poll. */
  imports: {
    /** Uploads a CSV file (multipart form, field `file`), detects its delimiter and encoding, and keeps it for 30 minutes. Use it first: the answer suggests a mapping and shows the first rows. 429 beyond 20 pending uploads or 1 GiB of them per organization (defaults that the installation can change). */
    upload(file: UploadFile, options?: UploadOptions): Promise<ImportUpload>
    /** Starts the import of an upload as a background job. Use it after an upload, with the mapping that a person has confirmed; try it with dryRun first. An upload is imported once: starting it again returns the same job. Up to 20 dry runs, which write nothing, may precede it. 429 beyond 20 unfinished jobs per organization, including dry runs and undos. Requires only audience.create, although an import also updates contacts: the action follows the HTTP method. */
    start(body: StartImportBody, options?: KeyedOptions): Promise<StartImportResponse>
    /** Returns the status of an import job. Use it to follow one job and to read its result. Poll until its state is completed or failed. */
    getStatus(jobId: string, options?: RequestOptions): Promise<ImportStatus>
    /** Lists the organization's import jobs, newest first. Use it to find earlier imports, also those that were started elsewhere. Honours the shared list parameters. */
    listJobs(query?: ListQuery<ImportJobFields>, options?: RequestOptions): List<ImportJob>
    /** Downloads the failed rows with the reasons, to correct and upload again. Use it to let people correct what failed. The added columns are not imported. A row that could not be read (columns, quote, nul, encoding) fails again while any of its cells still has the value in `_uncorrected`. If that value is correct, empty `_uncorrected`. */
    downloadErrors(jobId: string, options?: RequestOptions): Promise<Response>
    /** Cancels an unfinished job. Use it if the mapping turns out to be wrong while rows are still to come. Changes made until then are kept. */
    cancel(jobId: string, options?: KeyedOptions): Promise<Updated>
    /** Undoes a finished or cancelled import, as a new job. Use it if an import should not have happened. Restores the earlier value of every field that was not changed since, and deletes the contacts that the import created. Possible once, then 409. Requires only audience.create. */
    undo(jobId: string, options?: KeyedOptions): Promise<StartImportResponse>
  }
}

/** Every code of an error. */
export type ErrorCode =
  | 'request.missing_field'
  | 'request.extra_field'
  | 'request.empty_array'
  | 'request.invalid_field'
  | 'request.not_an_object'
  | 'request.rate_limited'
  | 'credential.missing'
  | 'credential.malformed'
  | 'session.invalid'
  | 'token.bad_organization'
  | 'token.invalid'
  | 'token.creator_missing'
  | 'token.role_missing'
  | 'account.blocked'
  | 'access.permission_denied'
  | 'access.scope_refused'
  | 'access.session_required'
  | 'access.read_only'
  | 'record.duplicate'
  | 'quota.exceeded'
  | 'quota.too_many_pending'
  | 'service.unavailable'
  | 'caller.unverified'
  | 'caller.issuer_denied'
  | 'caller.service_required'
  | 'request.refused'
  | 'credential.refused'
  | 'access.refused'
  | 'record.not_found'
  | 'record.conflict'
  | 'quota.refused'
  | 'route.not_found'
  | 'page.not_found'
  | 'request.malformed'
  | 'request.malformed_target'
  | 'request.malformed_query'
  | 'request.malformed_json'
  | 'request.malformed_form'
  | 'request.malformed_multipart'
  | 'request.head_too_large'
  | 'request.host_missing'
  | 'request.wrong_content_type'
  | 'request.wrong_encoding'
  | 'request.too_large'
  | 'request.too_deep'
  | 'request.too_many_pieces'
  | 'request.too_slow'
  | 'upload.too_slow'
  | 'upload.too_large'
  | 'access.cross_origin'
  | 'access.second_factor_required'
  | 'token.address_refused'
  | 'idempotency.invalid_key'
  | 'idempotency.unfinished'
  | 'idempotency.reused'
  | 'idempotency.answer_not_kept'
  | 'oauth.repeated_parameter'
  | 'client.two_credentials'
  | 'client.malformed_authorization'
  | 'contact.not_found'
  | 'contact.blocked'
  | 'attribute.not_found'
  | 'list.not_found'
  | 'list.archived'
  | 'segment.not_found'
  | 'segment.outdated'
  | 'list.in_use'
  | 'segment.in_use'
  | 'list.unknown'
  | 'bulk_job.not_found'
  | 'bulk.finished'
  | 'bulk.unfinished'
  | 'bulk.undone'
  | 'bulk.not_undoable'
  | 'bulk.not_cancellable'
  | 'bulk.too_old'
  | 'segment.unknown'
  | 'template.not_found'
  | 'template.unknown'
  | 'template.in_use'
  | 'campaign.not_found'
  | 'campaign.wrong_status'
  | 'campaign.changed'
  | 'campaign.not_ready'
  | 'campaign.nothing_failed'
  | 'link.not_found'
  | 'collection.not_found'
  | 'collection.has_entries'
  | 'entry.not_found'
  | 'form.not_found'
  | 'form.no_sender'
  | 'form.origin_refused'
  | 'form.too_large'
  | 'form.wrong_content_type'
  | 'form.malformed'
  | 'user.not_found'
  | 'user.unknown'
  | 'account.unknown'
  | 'account.own'
  | 'account.higher_rank'
  | 'password.too_common'
  | 'password_link.expired'
  | 'session.not_found'
  | 'device.not_found'
  | 'sign_in.wrong_password'
  | 'sign_in.wrong_code'
  | 'sign_in.wrong_second_factor'
  | 'sign_in.expired'
  | 'second_factor.on'
  | 'second_factor.off'
  | 'second_factor.not_started'
  | 'second_factor.required'
  | 'second_factor.own_required'
  | 'registration.closed'
  | 'impersonation.not_allowed'
  | 'organization.not_found'
  | 'organization.last_owner'
  | 'organization.unverified'
  | 'token.not_found'
  | 'token.expiry_invalid'
  | 'token.scope_refused'
  | 'token.no_session'
  | 'role.not_found'
  | 'role.unknown'
  | 'role.unknown_for_tokens'
  | 'role.exceeds_permissions'
  | 'role.above_rank'
  | 'role.built_in'
  | 'role.in_use'
  | 'role.other_kind'
  | 'role.name_reserved'
  | 'feature.not_found'
  | 'workspace.not_found'
  | 'workspace.last_owner'
  | 'workspace.seats_taken'
  | 'member.not_found'
  | 'member.no_account'
  | 'member.account_deleted'
  | 'member.owner_protected'
  | 'invitation.not_found'
  | 'invitation.expired'
  | 'invitation.answered'
  | 'invitation.role_deleted'
  | 'invitation.account_deleted'
  | 'invitation.sender_required'
  | 'client.invalid'
  | 'client.redirect_uri_invalid'
  | 'client.grant_types_invalid'
  | 'client.scope_empty'
  | 'client.scope_exceeded'
  | 'exchange.scope_empty'
  | 'exchange.scope_exceeded'
  | 'exchange.field_missing'
  | 'exchange.grant_type_unsupported'
  | 'exchange.token_type_unsupported'
  | 'exchange.actor_unsupported'
  | 'exchange.audience_unknown'
  | 'exchange.subject_refused'
  | 'exchange.subject_mistyped'
  | 'exchange.subject_invalid'
  | 'exchange.subject_exchanged'
  | 'import_job.not_found'
  | 'import.expired'
  | 'import.mapping_incomplete'
  | 'import.finished'
  | 'import.unfinished'
  | 'import.undone'
  | 'import.not_undoable'
  | 'import.not_cancellable'
  | 'file.empty'
  | 'file.binary'
  | 'file.encoding'
  | 'file.headers'
  | 'file.rows'
  | 'file.no_rows'
  | 'file.field_too_long'
  | 'file.row_too_long'
  | 'domain.not_found'
  | 'domain.in_use'
  | 'domain.changed'
  | 'domain.key_pending'
  | 'domain.not_verified'
  | 'domain.records_wrong'
  | 'domain.records_unseen'
  | 'domain.other_provider'
  | 'provider.not_found'
  | 'provider.report_refused'
  | 'provider.not_configured'
  | 'provider.not_offered'
  | 'provider.key_missing'
  | 'provider.key_refused'
  | 'provider.refused'
  | 'suppression.not_found'
  | 'sender.not_found'
  | 'sender.person_required'
  | 'sender.not_allowed'
  | 'sender.smtp_changed'
  | 'sender.not_smtp'
  | 'sender.other_delivery'
  | 'sender.unknown'
  | 'sender.no_default'
  | 'sender.not_usable'
  | 'sender.domain_unusable'
  | 'sender.test_failed'
  | 'mailing.not_found'
  | 'mailing.cancelled'
  | 'mailing.unsafe_links'
  | 'message.not_found'
  | 'message.not_scheduled'
  | 'connection.session_required'
  | 'connection.other_session'
  | 'connection.other_delivery'
  | 'connection.not_offered'
  | 'connection.expired'
  | 'connection.refused'
  | 'connection.other_address'
  | 'webhook.not_found'
  | 'webhook.too_many'
  | 'webhook.off'
  | 'webhook.test_failed'
  | 'webhook.unknown_type'
  | 'delivery.not_found'
  | 'event.not_found'
