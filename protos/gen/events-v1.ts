// Generated from the protos by `npm run generate`. Do not edit.

import type { AttributeJson, AudienceListJson, ContactJson, SegmentJson } from './audience-v1.ts'
import type { CampaignCountsJson } from './campaigns-v1.ts'
import type { CollectionFormJson, EntryJson, LinkJson } from './content-v1.ts'
import type { FeatureJson, InvitationJson, MemberJson, OrganizationSettingsJson, RoleJson, TokenJson, UserJson, WorkspaceJson } from './identity-v1.ts'
import type { DomainJson, SenderJson, SuppressionJson } from './messaging-v1.ts'
import type { ActorJson } from './types.ts'
import type { WebhookJson } from './webhooks-v1.ts'
/** ContactCreated as JSON. */
export type ContactCreated = {
  contact: ContactJson
  actor: ActorJson
}

/** ContactUpdated as JSON. */
export type ContactUpdated = {
  contactId: string
  /** Names of the fields that changed; attributes as attributes.<slug>. */
  changed: string[]
  actor: ActorJson
  /** What changed: the old and the new value of each public field in `changed`. Empty if they are too large for an event. */
  changes?: Record<string, unknown>
}

/** A contact gets no more campaigns. */
export type ContactUnsubscribed = {
  contactId: string
  /** link, one_click and preference: by the link of a mail; one_click by the mail program, preference on the page of lists. complaint: reported a mail as spam. provider: by the mail provider. api: by a user or an API token. import: by the row of a file. */
  how: 'link' | 'one_click' | 'preference' | 'complaint' | 'provider' | 'api' | 'import'
  /** The message whose link it was, or that was complained of. */
  emailId?: string
  actor: ActorJson
}

/** ContactBlocked as JSON. */
export type ContactBlocked = {
  contactId: string
  reason?: string
  actor: ActorJson
}

/** ContactUnblocked as JSON. */
export type ContactUnblocked = {
  contactId: string
  actor: ActorJson
}

/** ContactDeleted as JSON. */
export type ContactDeleted = {
  contactId: string
  email: string
  actor: ActorJson
}

/** A contact was erased from the audience; the other services follow. The event names nobody. */
export type ContactErased = {
  contactId: string
  jobId: string
  actor: ActorJson
}

/** Everything known of a contact was downloaded. */
export type ContactDataExported = {
  contactId: string
  actor: ActorJson
}

/** A person confirmed the address that was entered in a form. */
export type ContactConfirmed = {
  contactId: string
  email: string
  /** Title of the form. */
  form: string
  collectionId: string
  at: string
}

/** A contact was added to a list. Published once each time, whatever the source. */
export type ContactAddedToList = {
  contactId: string
  listId: string
  /** How the contact was added. */
  source: 'api' | 'import' | 'form' | 'workflow'
  at: string
}

/** A contact was removed from a list, or left it. A deleted list publishes list.deleted alone. */
export type ContactRemovedFromList = {
  contactId: string
  listId: string
  at: string
  actor: ActorJson
}

/** Contacts were downloaded as CSV. */
export type AudienceExported = {
  /** Contacts that matched the filter. */
  matched: number
  /** The filter as it was given; absent for all contacts. */
  filter?: string
  actor: ActorJson
}

/** AttributeCreated as JSON. */
export type AttributeCreated = {
  attribute: AttributeJson
  actor: ActorJson
}

/** AttributeUpdated as JSON. */
export type AttributeUpdated = {
  attribute: AttributeJson
  /** Names of the fields that changed. */
  changed: string[]
  actor: ActorJson
  /** What changed: the old and the new value of each public field in `changed`. */
  changes?: Record<string, unknown>
}

/** An attribute was deleted. Its values are dropped from the contacts without further events. */
export type AttributeDeleted = {
  attribute: AttributeJson
  actor: ActorJson
}

/** A contact that was deleted in bulk is back, with its id, tags, lists and history: the deletion was undone. */
export type ContactRestored = {
  contact: ContactJson
  actor: ActorJson
}

/** Work on many contacts was started. Each contact that it changes has events of its own. */
export type BulkStarted = {
  jobId: string
  kind: 'change' | 'delete' | 'undo' | 'add_to_list' | 'remove_from_list' | 'erase'
  dryRun: boolean
  /** For an undo: the job that it undoes. */
  undoes?: string
  actor: ActorJson
}

/** BulkCancelled as JSON. */
export type BulkCancelled = {
  jobId: string
  actor: ActorJson
}

/** Work on many contacts is complete. */
export type BulkCompleted = {
  jobId: string
  kind: 'change' | 'delete' | 'undo' | 'add_to_list' | 'remove_from_list' | 'erase'
  dryRun: boolean
  matched: number
  changed: number
  unchanged: number
  failed: number
  actor: ActorJson
}

/** ListCreated as JSON. */
export type ListCreated = {
  list: AudienceListJson
  actor: ActorJson
}

/** ListUpdated as JSON. */
export type ListUpdated = {
  list: AudienceListJson
  /** Names of the fields that changed. */
  changed: string[]
  actor: ActorJson
  /** What changed: the old and the new value of each public field in `changed`. */
  changes?: Record<string, unknown>
}

/** ListDeleted as JSON. */
export type ListDeleted = {
  list: AudienceListJson
  actor: ActorJson
}

/** SegmentCreated as JSON. */
export type SegmentCreated = {
  segment: SegmentJson
  actor: ActorJson
}

/** SegmentUpdated as JSON. */
export type SegmentUpdated = {
  segment: SegmentJson
  /** Names of the fields that changed. */
  changed: string[]
  actor: ActorJson
  /** What changed: the old and the new value of each public field in `changed`. */
  changes?: Record<string, unknown>
}

/** SegmentDeleted as JSON. */
export type SegmentDeleted = {
  segment: SegmentJson
  actor: ActorJson
}

/** A template without its content, which can be large. */
export type EventTemplateJson = {
  _id: string
  id: string
  name: string
  description: string
}

/** The public fields of EventTemplate. */
export const eventTemplateFields = {
  'name': 'string',
  'description': 'string',
} as const

/** TemplateCreated as JSON. */
export type TemplateCreated = {
  template: EventTemplateJson
  actor: ActorJson
}

/** TemplateUpdated as JSON. */
export type TemplateUpdated = {
  template: EventTemplateJson
  /** Names of the fields that changed. */
  changed: string[]
  actor: ActorJson
  /** What changed: the old and the new value of each field in `changed` but html and text, which can be large. */
  changes?: Record<string, unknown>
}

/** TemplateDeleted as JSON. */
export type TemplateDeleted = {
  template: EventTemplateJson
  actor: ActorJson
}

/** A campaign without its content, which can be large. */
export type EventCampaignJson = {
  _id: string
  id: string
  name: string
  subject: string
  status: 'draft' | 'scheduled' | 'sending' | 'paused' | 'sent' | 'cancelled' | 'failed'
  /** Why it paused by itself. */
  pausedReason: string | null
  counts: CampaignCountsJson
}

/** The public fields of EventCampaign. */
export const eventCampaignFields = {
  'name': 'string',
  'subject': 'string',
  'status': 'string',
  'pausedReason': 'string',
  'counts': 'object',
  'counts.recipients': 'number',
  'counts.sent': 'number',
  'counts.delivered': 'number',
  'counts.bounced': 'number',
  'counts.complained': 'number',
  'counts.opened': 'number',
  'counts.clicked': 'number',
  'counts.unsubscribed': 'number',
  'counts.suppressed': 'object',
  'counts.suppressed.blocked': 'number',
  'counts.suppressed.unsubscribed': 'number',
  'counts.suppressed.address': 'number',
  'counts.failed': 'number',
  'counts.waiting': 'number',
} as const

/** CampaignCreated as JSON. */
export type CampaignCreated = {
  campaign: EventCampaignJson
  actor: ActorJson
}

/** CampaignUpdated as JSON. */
export type CampaignUpdated = {
  campaign: EventCampaignJson
  /** Names of the fields that changed. */
  changed: string[]
  actor: ActorJson
  /** What changed: the old and the new value of each field in `changed` but html and text, which can be large. */
  changes: Record<string, unknown>
}

/** CampaignDeleted as JSON. */
export type CampaignDeleted = {
  campaign: EventCampaignJson
  actor: ActorJson
}

/** A campaign got a time at which it starts. */
export type CampaignScheduled = {
  campaign: EventCampaignJson
  at: string
  actor: ActorJson
}

/** A scheduled campaign was made a draft again. */
export type CampaignUnscheduled = {
  campaign: EventCampaignJson
  actor: ActorJson
}

/** A campaign was not ready at its time. */
export type CampaignFailed = {
  campaign: EventCampaignJson
  reason: string
  actor: ActorJson
}

/** Test mails of a campaign were sent. */
export type CampaignTested = {
  campaign: EventCampaignJson
  /** Number of addresses. */
  recipients: number
  actor: ActorJson
}

/** A campaign began to be sent. */
export type CampaignStarted = {
  campaign: EventCampaignJson
  actor: ActorJson
}

/** No recipient of a campaign waits any more. */
export type CampaignFinished = {
  campaign: EventCampaignJson
  actor: ActorJson
}

/** A campaign was paused by a person, or paused by itself: then pausedReason says why. */
export type CampaignPaused = {
  campaign: EventCampaignJson
  actor: ActorJson
}

/** A paused campaign is sent again. */
export type CampaignResumed = {
  campaign: EventCampaignJson
  actor: ActorJson
}

/** A campaign is sent again to the recipients for whom sending failed. */
export type CampaignRetried = {
  campaign: EventCampaignJson
  actor: ActorJson
}

/** A campaign was cancelled while it was being sent or paused. */
export type CampaignCancelled = {
  campaign: EventCampaignJson
  actor: ActorJson
}

/** LinkCreated as JSON. */
export type LinkCreated = {
  link: LinkJson
  actor: ActorJson
}

/** LinkUpdated as JSON. */
export type LinkUpdated = {
  link: LinkJson
  /** Names of the fields that changed. */
  changed: string[]
  actor: ActorJson
  /** What changed: the old and the new value of each field in `changed`. */
  changes: Record<string, unknown>
}

/** A short link was deleted, and its clicks with it. */
export type LinkDeleted = {
  link: LinkJson
  actor: ActorJson
}

/** A person followed a short link. Published for the first click of a visitor on a day; further ones are only counted. */
export type LinkClicked = {
  linkId: string
  slug: string
  /** Where the link leads. */
  url: string
  at: string
  /** Host of the page with the link. */
  referrer: string | null
  /** ISO 3166-1 code. */
  country: string | null
  /** desktop, mobile, tablet or tv. */
  device: string | null
}

/** A collection without its fields, which can be large. */
export type EventCollectionJson = {
  _id: string
  id: string
  name: string
  slug: string
  description: string
  entryCount: number
  /** The public form; null: none. */
  form: CollectionFormJson | null
}

/** The public fields of EventCollection. */
export const eventCollectionFields = {
  'name': 'string',
  'slug': 'string',
  'description': 'string',
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
} as const

/** CollectionCreated as JSON. */
export type CollectionCreated = {
  collection: EventCollectionJson
  actor: ActorJson
}

/** CollectionUpdated as JSON. */
export type CollectionUpdated = {
  collection: EventCollectionJson
  /** Names of what changed: name, slug, description, fields, form. */
  changed: string[]
  actor: ActorJson
  /** What changed: the old and the new value of each of `changed` but fields, which can be large. */
  changes: Record<string, unknown>
}

/** A collection was deleted, and its entries with it. */
export type CollectionDeleted = {
  collection: EventCollectionJson
  actor: ActorJson
}

/** A form was submitted, and its entry created. */
export type FormSubmitted = {
  collectionId: string
  entryId: string
  at: string
}

/** CollectionEntryCreated as JSON. */
export type CollectionEntryCreated = {
  entry: EntryJson
  actor: ActorJson
}

/** CollectionEntryUpdated as JSON. */
export type CollectionEntryUpdated = {
  entry: EntryJson
  /** Slugs of the fields whose values changed. */
  changed: string[]
  actor: ActorJson
  /** What changed: the old and the new value of each field in `changed`. */
  changes?: Record<string, unknown>
}

/** Not published for the entries of a deleted collection. */
export type CollectionEntryDeleted = {
  entry: EntryJson
  actor: ActorJson
}

/** TokenCreated as JSON. */
export type TokenCreated = {
  /** The token as listed, without the secret. */
  token: TokenJson
  actor: ActorJson
}

/** TokenUpdated as JSON. */
export type TokenUpdated = {
  token: TokenJson
  /** Names of the fields that changed. */
  changed: string[]
  actor: ActorJson
  /** What changed: the old and the new value of each public field in `changed`. */
  changes?: Record<string, unknown>
}

/** TokenDeleted as JSON. */
export type TokenDeleted = {
  token: TokenJson
  actor: ActorJson
}

/** A request with a token was refused. Published at most once a minute for each token. */
export type TokenRefused = {
  tokenId: string
  /** Code of the refusal, for example token.invalid for a token that is inactive, archived or expired. */
  reason: string
  actor: ActorJson
}

/** RoleSaved as JSON. */
export type RoleSaved = {
  role: RoleJson
  /** Tokens and members whose permissions the save changed. */
  affectedTokens: number
  affectedMembers: number
  actor: ActorJson
  /** The old and the new value of each public field that changed; absent for a new role. */
  changes?: Record<string, unknown>
}

/** RoleDeleted as JSON. */
export type RoleDeleted = {
  role: RoleJson
  actor: ActorJson
}

/** SessionCreated as JSON. */
export type SessionCreated = {
  userId: string
  ip: string
  userAgent: string
  at: string
  actor: ActorJson
}

/** A read-only impersonation of a user began. The actor is the impersonator. */
export type SessionImpersonated = {
  userId: string
  ip: string
  userAgent: string
  at: string
  expiresAt: string
  actor: ActorJson
  /** As the impersonator gave it. */
  reason?: string
}

/** A client exchanged the actor's credential for its own JWT. */
export type SessionExchanged = {
  userId: string
  /** Id and name of the client. */
  clientId: string
  clientName: string
  /** resource.action pairs, separated by spaces. */
  scope: string
  ip: string
  userAgent: string
  at: string
  expiresAt: string
  actor: ActorJson
}

/** SessionEnded as JSON. */
export type SessionEnded = {
  userId: string
  at: string
  /** Who ended it: the user, or an administrator. */
  actor: ActorJson
}

/** A sign-in to an account failed. */
export type SessionFailed = {
  userId: string
  /** blocked: the account is blocked. */
  reason: 'password' | 'code' | 'second_factor' | 'blocked'
  ip: string
  userAgent: string
  at: string
  actor: ActorJson
}

/** UserCreated as JSON. */
export type UserCreated = {
  user: UserJson
  actor: ActorJson
}

/** UserUpdated as JSON. */
export type UserUpdated = {
  user: UserJson
  /** Names of the fields that changed. */
  changed: string[]
  actor: ActorJson
  /** What changed: the old and the new value of each public field in `changed`. */
  changes?: Record<string, unknown>
}

/** UserRoleChanged as JSON. */
export type UserRoleChanged = {
  userId: string
  /** Names of the roles. */
  from: string
  to: string
  actor: ActorJson
}

/** UserBlocked as JSON. */
export type UserBlocked = {
  userId: string
  actor: ActorJson
}

/** UserUnblocked as JSON. */
export type UserUnblocked = {
  userId: string
  actor: ActorJson
}

/** UserDeleted as JSON. */
export type UserDeleted = {
  user: UserJson
  actor: ActorJson
}

/** UserDeviceRevoked as JSON. */
export type UserDeviceRevoked = {
  userId: string
  /** Name of the device. */
  device: string
  actor: ActorJson
}

/** A mail with a link to set a password was requested. The actor has not proved who they are. */
export type UserPasswordResetRequested = {
  userId: string
  actor: ActorJson
}

/** A mail with a code to sign in was requested. The actor has not proved who they are. */
export type UserCodeRequested = {
  userId: string
  actor: ActorJson
}

/** The user asked for another email address. It changes once the new mailbox is verified. */
export type UserEmailChangeRequested = {
  userId: string
  /** The new address. */
  email: string
  actor: ActorJson
}

/** UserPasswordSet as JSON. */
export type UserPasswordSet = {
  userId: string
  actor: ActorJson
}

/** The account's email address was verified for the first time. */
export type UserEmailVerified = {
  userId: string
  actor: ActorJson
}

/** The password and sessions of an unverified account were removed, since another account verified the same address. */
export type UserPasswordRemoved = {
  userId: string
  actor: ActorJson
}

/** The user got the secret of a second factor, which is on once a code of it is confirmed. */
export type UserSecondFactorStarted = {
  userId: string
  actor: ActorJson
}

/** The user set up a second factor. */
export type UserSecondFactorEnabled = {
  userId: string
  actor: ActorJson
}

/** UserSecondFactorDisabled as JSON. */
export type UserSecondFactorDisabled = {
  userId: string
  actor: ActorJson
}

/** An administrator turned the second factor of the user off. */
export type UserSecondFactorReset = {
  userId: string
  actor: ActorJson
}

/** The user replaced the recovery codes. */
export type UserRecoveryCodesRenewed = {
  userId: string
  actor: ActorJson
}

/** UserFeaturesChanged as JSON. */
export type UserFeaturesChanged = {
  userId: string
  /** The user's own settings after the change. */
  features: Record<string, boolean | null>
  actor: ActorJson
  /** What changed: the old and the new settings, as features. */
  changes?: Record<string, unknown>
}

/** WorkspaceCreated as JSON. */
export type WorkspaceCreated = {
  workspace: WorkspaceJson
  actor: ActorJson
}

/** WorkspaceUpdated as JSON. */
export type WorkspaceUpdated = {
  workspace: WorkspaceJson
  /** Names of the fields that changed. */
  changed: string[]
  actor: ActorJson
  /** What changed: the old and the new value of each public field in `changed`. */
  changes?: Record<string, unknown>
}

/** A workspace was deleted with its memberships and invitations, which publish no events of their own. */
export type WorkspaceDeleted = {
  workspace: WorkspaceJson
  actor: ActorJson
}

/** MemberAdded as JSON. */
export type MemberAdded = {
  member: MemberJson
  workspaceId: string
  actor: ActorJson
}

/** MemberRoleChanged as JSON. */
export type MemberRoleChanged = {
  memberId: string
  workspaceId: string
  userId: string
  /** Names of the roles. */
  from: string
  to: string
  actor: ActorJson
}

/** MemberRemoved as JSON. */
export type MemberRemoved = {
  member: MemberJson
  workspaceId: string
  actor: ActorJson
}

/** InvitationCreated as JSON. */
export type InvitationCreated = {
  /** The invitation as listed, without the secret. */
  invitation: InvitationJson
  workspaceId: string
  actor: ActorJson
}

/** InvitationAccepted as JSON. */
export type InvitationAccepted = {
  invitation: InvitationJson
  workspaceId: string
  userId: string
  actor: ActorJson
}

/** InvitationDeclined as JSON. */
export type InvitationDeclined = {
  invitation: InvitationJson
  workspaceId: string
  actor: ActorJson
}

/** InvitationRevoked as JSON. */
export type InvitationRevoked = {
  invitation: InvitationJson
  workspaceId: string
  actor: ActorJson
}

/** SettingsUpdated as JSON. */
export type SettingsUpdated = {
  /** All settings after the change. */
  settings: OrganizationSettingsJson
  /** Names of the settings that changed. */
  changed: string[]
  actor: ActorJson
  /** What changed: the old and the new value of each public field in `changed`. */
  changes?: Record<string, unknown>
}

/** FeatureCreated as JSON. */
export type FeatureCreated = {
  feature: FeatureJson
  actor: ActorJson
}

/** FeatureUpdated as JSON. */
export type FeatureUpdated = {
  feature: FeatureJson
  /** Names of the fields that changed. */
  changed: string[]
  actor: ActorJson
  /** What changed: the old and the new value of each public field in `changed`. */
  changes?: Record<string, unknown>
}

/** FeatureDeleted as JSON. */
export type FeatureDeleted = {
  feature: FeatureJson
  actor: ActorJson
}

/** A file was uploaded for import. */
export type ImportUploaded = {
  importId: string
  fileName?: string
  rows: number
  actor: ActorJson
}

/** An import, or a dry run of one, was started. */
export type ImportStarted = {
  jobId: string
  importId: string
  dryRun: boolean
  actor: ActorJson
}

/** The undo of an import was started. */
export type ImportUndoStarted = {
  /** The import, and the job that undoes it. */
  jobId: string
  undoJobId: string
  actor: ActorJson
}

/** ImportCompleted as JSON. */
export type ImportCompleted = {
  jobId: string
  total: number
  created: number
  updated: number
  unchanged: number
  skipped: number
  failed: number
}

/** An import failed. The counts cover the rows processed until then, whose changes remain. */
export type ImportFailed = {
  jobId: string
  reason: string
  total: number
  created: number
  updated: number
  unchanged: number
  skipped: number
  failed: number
}

/** An import was cancelled. The counts cover the rows processed until then, whose changes remain. */
export type ImportCancelled = {
  jobId: string
  total: number
  created: number
  updated: number
  unchanged: number
  skipped: number
  failed: number
}

/** An import was undone, except for values that were changed since. */
export type ImportUndone = {
  /** The import, and the job that undid it. */
  jobId: string
  undoJobId: string
  /** Contacts that were deleted, restored, and kept because they were changed since. */
  removed: number
  restored: number
  kept: number
}

/** DomainCreated as JSON. */
export type DomainCreated = {
  domain: DomainJson
  actor: ActorJson
}

/** DomainDeleted as JSON. */
export type DomainDeleted = {
  domain: DomainJson
  actor: ActorJson
}

/** Somebody had the DNS records of a domain checked, which changes neither its status nor whether it may send. */
export type DomainChecked = {
  domain: DomainJson
  actor: ActorJson
}

/** A domain got another DKIM key. */
export type DomainKeyRotated = {
  domain: DomainJson
  actor: ActorJson
}

/** The organization chose a mail provider, or changed its settings. */
export type ProviderUpdated = {
  kind: string
  region?: string
  domain?: string
  actor: ActorJson
  /** What changed: the old and the new value of each field but keys. */
  changes?: Record<string, unknown>
}

/** The organization removed its mail provider. */
export type ProviderDeleted = {
  kind: string
  actor: ActorJson
}

/** SenderCreated as JSON. */
export type SenderCreated = {
  sender: SenderJson
  actor: ActorJson
}

/** SenderUpdated as JSON. */
export type SenderUpdated = {
  sender: SenderJson
  /** Names of the fields that changed, for example isDefault, owner, sharedWith or smtpPassword. */
  changed: string[]
  actor: ActorJson
  /** What changed: the old and the new value of each public field in `changed`. */
  changes?: Record<string, unknown>
}

/** SenderDeleted as JSON. */
export type SenderDeleted = {
  sender: SenderJson
  actor: ActorJson
}

/** DomainVerified as JSON. */
export type DomainVerified = {
  domainId: string
  domain: string
  verifiedAt: string
  actor: ActorJson
}

/** DNS records of a verified domain failed repeated checks. Sending continues. */
export type DomainDegraded = {
  domainId: string
  domain: string
  degradedAt: string
  /** Each failing record and why. */
  reasons: string[]
}

/** The delivery status of an email changed. queued: accepted for sending. sent: accepted by the receiving server. bounced: permanently refused by that server, at once or later. failed: every delivery attempt failed. suppressed: not sent, because the contact is blocked or the address is suppressed. delivered: in the mailbox, as the provider says. opened, clicked: by its recipient, the first time, if the message counts that. complained: reported as spam. */
export type EmailProgress = {
  emailId: string
  to: string
  subject: string
  /** Address that the email is sent from. */
  sender: string
  /** The recipient: the id of a contact or a user. A message of the organization without one belongs to the contact with this address. Account mail without one appears in no history. */
  contactId?: string
  userId?: string
  at: string
  /** For bounced, failed and suppressed: the reply of the receiving server, or why the mail did not reach one. */
  error?: string
  /** account (the default): mail of the installation (codes, links, invitations), shown to the user only. The others are messages of the organization. */
  kind?: 'account' | 'transactional' | 'campaign' | 'test'
  /** The campaign that it belongs to. */
  campaignId?: string
  /** For clicked: the URL of the link. */
  url?: string
}

/** An address gets no more mail of the organization. */
export type SuppressionCreated = {
  suppression: SuppressionJson
  actor: ActorJson
}

/** A suppression was lifted: the next mail to the address is tried. */
export type SuppressionDeleted = {
  suppression: SuppressionJson
  actor: ActorJson
}

/** A webhook endpoint was created. It does not receive this event itself. */
export type WebhookCreated = {
  webhook: WebhookJson
  actor: ActorJson
}

/** WebhookUpdated as JSON. */
export type WebhookUpdated = {
  webhook: WebhookJson
  /** Names of the fields that changed; secret for a rotation. */
  changed: string[]
  actor: ActorJson
  /** What changed: the old and the new value of each public field in `changed`. */
  changes?: Record<string, unknown>
}

/** WebhookDeleted as JSON. */
export type WebhookDeleted = {
  webhook: WebhookJson
  actor: ActorJson
}

/** Every attempt at an endpoint has failed for 24 hours. */
export type WebhookFailing = {
  webhook: WebhookJson
  actor: ActorJson
}

/** An endpoint was switched off, because it answered 410 or every attempt has failed for five days. */
export type WebhookDisabled = {
  webhook: WebhookJson
  actor: ActorJson
}

/** An example was sent to an endpoint on request. */
export type WebhookTested = {
  webhookId: string
  /** Type of the example. */
  type: string
  /** Whether the endpoint accepted it. */
  delivered: boolean
  actor: ActorJson
}

/** Deliveries of an endpoint were scheduled again on request. */
export type WebhookRecovered = {
  webhookId: string
  since: string
  scheduled: number
  actor: ActorJson
}

/** A delivery was sent again on request. */
export type WebhookReplayed = {
  webhookId: string
  deliveryId: string
  actor: ActorJson
}
