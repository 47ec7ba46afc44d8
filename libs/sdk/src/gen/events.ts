// Generated from the protos by `npm run generate`. Do not edit.

import type { Actor, Attribute, AudienceList, CampaignCounts, CollectionForm, Contact, DefaultTracking, DnsRecord, Domain, Entry, Feature, FormContact, Invitation, Link, Member, OrganizationSettings, Role, Segment, Sender, SenderOauth, SenderSmtp, SuppressedCounts, Suppression, Token, User, Webhook, Workspace } from './types.ts'

/** ContactCreated as JSON. */
export type ContactCreated = {
  contact: Contact
  actor: Actor
}

/** ContactUpdated as JSON. */
export type ContactUpdated = {
  contactId: string
  /** Names of the fields that changed; attributes as attributes.<slug>. */
  changed: string[]
  actor: Actor
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
  actor: Actor
}

/** ContactBlocked as JSON. */
export type ContactBlocked = {
  contactId: string
  reason?: string
  actor: Actor
}

/** ContactUnblocked as JSON. */
export type ContactUnblocked = {
  contactId: string
  actor: Actor
}

/** ContactDeleted as JSON. */
export type ContactDeleted = {
  contactId: string
  email: string
  actor: Actor
}

/** A contact was erased from the audience; the other services follow. The event names nobody. */
export type ContactErased = {
  contactId: string
  jobId: string
  actor: Actor
}

/** Everything known of a contact was downloaded. */
export type ContactDataExported = {
  contactId: string
  actor: Actor
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
  actor: Actor
}

/** Contacts were downloaded as CSV. */
export type AudienceExported = {
  /** Contacts that matched the filter. */
  matched: number
  /** The filter as it was given; absent for all contacts. */
  filter?: string
  actor: Actor
}

/** AttributeCreated as JSON. */
export type AttributeCreated = {
  attribute: Attribute
  actor: Actor
}

/** AttributeUpdated as JSON. */
export type AttributeUpdated = {
  attribute: Attribute
  /** Names of the fields that changed. */
  changed: string[]
  actor: Actor
  /** What changed: the old and the new value of each public field in `changed`. */
  changes?: Record<string, unknown>
}

/** An attribute was deleted. Its values are dropped from the contacts without further events. */
export type AttributeDeleted = {
  attribute: Attribute
  actor: Actor
}

/** A contact that was deleted in bulk is back, with its id, tags, lists and history: the deletion was undone. */
export type ContactRestored = {
  contact: Contact
  actor: Actor
}

/** Work on many contacts was started. Each contact that it changes has events of its own. */
export type BulkStarted = {
  jobId: string
  kind: 'change' | 'delete' | 'undo' | 'add_to_list' | 'remove_from_list' | 'erase'
  dryRun: boolean
  /** For an undo: the job that it undoes. */
  undoes?: string
  actor: Actor
}

/** BulkCancelled as JSON. */
export type BulkCancelled = {
  jobId: string
  actor: Actor
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
  actor: Actor
}

/** ListCreated as JSON. */
export type ListCreated = {
  list: AudienceList
  actor: Actor
}

/** ListUpdated as JSON. */
export type ListUpdated = {
  list: AudienceList
  /** Names of the fields that changed. */
  changed: string[]
  actor: Actor
  /** What changed: the old and the new value of each public field in `changed`. */
  changes?: Record<string, unknown>
}

/** ListDeleted as JSON. */
export type ListDeleted = {
  list: AudienceList
  actor: Actor
}

/** SegmentCreated as JSON. */
export type SegmentCreated = {
  segment: Segment
  actor: Actor
}

/** SegmentUpdated as JSON. */
export type SegmentUpdated = {
  segment: Segment
  /** Names of the fields that changed. */
  changed: string[]
  actor: Actor
  /** What changed: the old and the new value of each public field in `changed`. */
  changes?: Record<string, unknown>
}

/** SegmentDeleted as JSON. */
export type SegmentDeleted = {
  segment: Segment
  actor: Actor
}

/** TemplateCreated as JSON. */
export type TemplateCreated = {
  template: EventTemplate
  actor: Actor
}

/** A template without its content, which can be large. */
export type EventTemplate = {
  _id: string
  id: string
  name: string
  description: string
}

/** TemplateUpdated as JSON. */
export type TemplateUpdated = {
  template: EventTemplate
  /** Names of the fields that changed. */
  changed: string[]
  actor: Actor
  /** What changed: the old and the new value of each field in `changed` but html and text, which can be large. */
  changes?: Record<string, unknown>
}

/** TemplateDeleted as JSON. */
export type TemplateDeleted = {
  template: EventTemplate
  actor: Actor
}

/** CampaignCreated as JSON. */
export type CampaignCreated = {
  campaign: EventCampaign
  actor: Actor
}

/** A campaign without its content, which can be large. */
export type EventCampaign = {
  _id: string
  id: string
  name: string
  subject: string
  status: 'draft' | 'scheduled' | 'sending' | 'paused' | 'sent' | 'cancelled' | 'failed'
  /** Why it paused by itself. */
  pausedReason: string | null
  counts: CampaignCounts
}

/** CampaignUpdated as JSON. */
export type CampaignUpdated = {
  campaign: EventCampaign
  /** Names of the fields that changed. */
  changed: string[]
  actor: Actor
  /** What changed: the old and the new value of each field in `changed` but html and text, which can be large. */
  changes: Record<string, unknown>
}

/** CampaignDeleted as JSON. */
export type CampaignDeleted = {
  campaign: EventCampaign
  actor: Actor
}

/** A campaign got a time at which it starts. */
export type CampaignScheduled = {
  campaign: EventCampaign
  at: string
  actor: Actor
}

/** A scheduled campaign was made a draft again. */
export type CampaignUnscheduled = {
  campaign: EventCampaign
  actor: Actor
}

/** A campaign was not ready at its time. */
export type CampaignFailed = {
  campaign: EventCampaign
  reason: string
  actor: Actor
}

/** Test mails of a campaign were sent. */
export type CampaignTested = {
  campaign: EventCampaign
  /** Number of addresses. */
  recipients: number
  actor: Actor
}

/** A campaign began to be sent. */
export type CampaignStarted = {
  campaign: EventCampaign
  actor: Actor
}

/** No recipient of a campaign waits any more. */
export type CampaignFinished = {
  campaign: EventCampaign
  actor: Actor
}

/** A campaign was paused by a person, or paused by itself: then pausedReason says why. */
export type CampaignPaused = {
  campaign: EventCampaign
  actor: Actor
}

/** A paused campaign is sent again. */
export type CampaignResumed = {
  campaign: EventCampaign
  actor: Actor
}

/** A campaign is sent again to the recipients for whom sending failed. */
export type CampaignRetried = {
  campaign: EventCampaign
  actor: Actor
}

/** A campaign was cancelled while it was being sent or paused. */
export type CampaignCancelled = {
  campaign: EventCampaign
  actor: Actor
}

/** LinkCreated as JSON. */
export type LinkCreated = {
  link: Link
  actor: Actor
}

/** LinkUpdated as JSON. */
export type LinkUpdated = {
  link: Link
  /** Names of the fields that changed. */
  changed: string[]
  actor: Actor
  /** What changed: the old and the new value of each field in `changed`. */
  changes: Record<string, unknown>
}

/** A short link was deleted, and its clicks with it. */
export type LinkDeleted = {
  link: Link
  actor: Actor
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

/** CollectionCreated as JSON. */
export type CollectionCreated = {
  collection: EventCollection
  actor: Actor
}

/** A collection without its fields, which can be large. */
export type EventCollection = {
  _id: string
  id: string
  name: string
  slug: string
  description: string
  entryCount: number
  /** The public form; null: none. */
  form: CollectionForm | null
}

/** CollectionUpdated as JSON. */
export type CollectionUpdated = {
  collection: EventCollection
  /** Names of what changed: name, slug, description, fields, form. */
  changed: string[]
  actor: Actor
  /** What changed: the old and the new value of each of `changed` but fields, which can be large. */
  changes: Record<string, unknown>
}

/** A collection was deleted, and its entries with it. */
export type CollectionDeleted = {
  collection: EventCollection
  actor: Actor
}

/** A form was submitted, and its entry created. */
export type FormSubmitted = {
  collectionId: string
  entryId: string
  at: string
}

/** CollectionEntryCreated as JSON. */
export type CollectionEntryCreated = {
  entry: Entry
  actor: Actor
}

/** CollectionEntryUpdated as JSON. */
export type CollectionEntryUpdated = {
  entry: Entry
  /** Slugs of the fields whose values changed. */
  changed: string[]
  actor: Actor
  /** What changed: the old and the new value of each field in `changed`. */
  changes?: Record<string, unknown>
}

/** Not published for the entries of a deleted collection. */
export type CollectionEntryDeleted = {
  entry: Entry
  actor: Actor
}

/** TokenCreated as JSON. */
export type TokenCreated = {
  /** The token as listed, without the secret. */
  token: Token
  actor: Actor
}

/** TokenUpdated as JSON. */
export type TokenUpdated = {
  token: Token
  /** Names of the fields that changed. */
  changed: string[]
  actor: Actor
  /** What changed: the old and the new value of each public field in `changed`. */
  changes?: Record<string, unknown>
}

/** TokenDeleted as JSON. */
export type TokenDeleted = {
  token: Token
  actor: Actor
}

/** A request with a token was refused. Published at most once a minute for each token. */
export type TokenRefused = {
  tokenId: string
  /** Code of the refusal, for example token.invalid for a token that is inactive, archived or expired. */
  reason: string
  actor: Actor
}

/** RoleSaved as JSON. */
export type RoleSaved = {
  role: Role
  /** Tokens and members whose permissions the save changed. */
  affectedTokens: number
  affectedMembers: number
  actor: Actor
  /** The old and the new value of each public field that changed; absent for a new role. */
  changes?: Record<string, unknown>
}

/** RoleDeleted as JSON. */
export type RoleDeleted = {
  role: Role
  actor: Actor
}

/** SessionCreated as JSON. */
export type SessionCreated = {
  userId: string
  ip: string
  userAgent: string
  at: string
  actor: Actor
}

/** A read-only impersonation of a user began. The actor is the impersonator. */
export type SessionImpersonated = {
  userId: string
  ip: string
  userAgent: string
  at: string
  expiresAt: string
  actor: Actor
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
  actor: Actor
}

/** SessionEnded as JSON. */
export type SessionEnded = {
  userId: string
  at: string
  /** Who ended it: the user, or an administrator. */
  actor: Actor
}

/** A sign-in to an account failed. */
export type SessionFailed = {
  userId: string
  /** blocked: the account is blocked. */
  reason: 'password' | 'code' | 'second_factor' | 'blocked'
  ip: string
  userAgent: string
  at: string
  actor: Actor
}

/** UserCreated as JSON. */
export type UserCreated = {
  user: User
  actor: Actor
}

/** UserUpdated as JSON. */
export type UserUpdated = {
  user: User
  /** Names of the fields that changed. */
  changed: string[]
  actor: Actor
  /** What changed: the old and the new value of each public field in `changed`. */
  changes?: Record<string, unknown>
}

/** UserRoleChanged as JSON. */
export type UserRoleChanged = {
  userId: string
  /** Names of the roles. */
  from: string
  to: string
  actor: Actor
}

/** UserBlocked as JSON. */
export type UserBlocked = {
  userId: string
  actor: Actor
}

/** UserUnblocked as JSON. */
export type UserUnblocked = {
  userId: string
  actor: Actor
}

/** UserDeleted as JSON. */
export type UserDeleted = {
  user: User
  actor: Actor
}

/** UserDeviceRevoked as JSON. */
export type UserDeviceRevoked = {
  userId: string
  /** Name of the device. */
  device: string
  actor: Actor
}

/** A mail with a link to set a password was requested. The actor has not proved who they are. */
export type UserPasswordResetRequested = {
  userId: string
  actor: Actor
}

/** A mail with a code to sign in was requested. The actor has not proved who they are. */
export type UserCodeRequested = {
  userId: string
  actor: Actor
}

/** The user asked for another email address. It changes once the new mailbox is verified. */
export type UserEmailChangeRequested = {
  userId: string
  /** The new address. */
  email: string
  actor: Actor
}

/** UserPasswordSet as JSON. */
export type UserPasswordSet = {
  userId: string
  actor: Actor
}

/** The account's email address was verified for the first time. */
export type UserEmailVerified = {
  userId: string
  actor: Actor
}

/** The password and sessions of an unverified account were removed, since another account verified the same address. */
export type UserPasswordRemoved = {
  userId: string
  actor: Actor
}

/** The user got the secret of a second factor, which is on once a code of it is confirmed. */
export type UserSecondFactorStarted = {
  userId: string
  actor: Actor
}

/** The user set up a second factor. */
export type UserSecondFactorEnabled = {
  userId: string
  actor: Actor
}

/** UserSecondFactorDisabled as JSON. */
export type UserSecondFactorDisabled = {
  userId: string
  actor: Actor
}

/** An administrator turned the second factor of the user off. */
export type UserSecondFactorReset = {
  userId: string
  actor: Actor
}

/** The user replaced the recovery codes. */
export type UserRecoveryCodesRenewed = {
  userId: string
  actor: Actor
}

/** UserFeaturesChanged as JSON. */
export type UserFeaturesChanged = {
  userId: string
  /** The user's own settings after the change. */
  features: Record<string, boolean | null>
  actor: Actor
  /** What changed: the old and the new settings, as features. */
  changes?: Record<string, unknown>
}

/** WorkspaceCreated as JSON. */
export type WorkspaceCreated = {
  workspace: Workspace
  actor: Actor
}

/** WorkspaceUpdated as JSON. */
export type WorkspaceUpdated = {
  workspace: Workspace
  /** Names of the fields that changed. */
  changed: string[]
  actor: Actor
  /** What changed: the old and the new value of each public field in `changed`. */
  changes?: Record<string, unknown>
}

/** A workspace was deleted with its memberships and invitations, which publish no events of their own. */
export type WorkspaceDeleted = {
  workspace: Workspace
  actor: Actor
}

/** MemberAdded as JSON. */
export type MemberAdded = {
  member: Member
  workspaceId: string
  actor: Actor
}

/** MemberRoleChanged as JSON. */
export type MemberRoleChanged = {
  memberId: string
  workspaceId: string
  userId: string
  /** Names of the roles. */
  from: string
  to: string
  actor: Actor
}

/** MemberRemoved as JSON. */
export type MemberRemoved = {
  member: Member
  workspaceId: string
  actor: Actor
}

/** InvitationCreated as JSON. */
export type InvitationCreated = {
  /** The invitation as listed, without the secret. */
  invitation: Invitation
  workspaceId: string
  actor: Actor
}

/** InvitationAccepted as JSON. */
export type InvitationAccepted = {
  invitation: Invitation
  workspaceId: string
  userId: string
  actor: Actor
}

/** InvitationDeclined as JSON. */
export type InvitationDeclined = {
  invitation: Invitation
  workspaceId: string
  actor: Actor
}

/** InvitationRevoked as JSON. */
export type InvitationRevoked = {
  invitation: Invitation
  workspaceId: string
  actor: Actor
}

/** SettingsUpdated as JSON. */
export type SettingsUpdated = {
  /** All settings after the change. */
  settings: OrganizationSettings
  /** Names of the settings that changed. */
  changed: string[]
  actor: Actor
  /** What changed: the old and the new value of each public field in `changed`. */
  changes?: Record<string, unknown>
}

/** FeatureCreated as JSON. */
export type FeatureCreated = {
  feature: Feature
  actor: Actor
}

/** FeatureUpdated as JSON. */
export type FeatureUpdated = {
  feature: Feature
  /** Names of the fields that changed. */
  changed: string[]
  actor: Actor
  /** What changed: the old and the new value of each public field in `changed`. */
  changes?: Record<string, unknown>
}

/** FeatureDeleted as JSON. */
export type FeatureDeleted = {
  feature: Feature
  actor: Actor
}

/** A file was uploaded for import. */
export type ImportUploaded = {
  importId: string
  fileName?: string
  rows: number
  actor: Actor
}

/** An import, or a dry run of one, was started. */
export type ImportStarted = {
  jobId: string
  importId: string
  dryRun: boolean
  actor: Actor
}

/** The undo of an import was started. */
export type ImportUndoStarted = {
  /** The import, and the job that undoes it. */
  jobId: string
  undoJobId: string
  actor: Actor
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
  domain: Domain
  actor: Actor
}

/** DomainDeleted as JSON. */
export type DomainDeleted = {
  domain: Domain
  actor: Actor
}

/** Somebody had the DNS records of a domain checked, which changes neither its status nor whether it may send. */
export type DomainChecked = {
  domain: Domain
  actor: Actor
}

/** A domain got another DKIM key. */
export type DomainKeyRotated = {
  domain: Domain
  actor: Actor
}

/** The organization chose a mail provider, or changed its settings. */
export type ProviderUpdated = {
  kind: string
  region?: string
  domain?: string
  actor: Actor
  /** What changed: the old and the new value of each field but keys. */
  changes?: Record<string, unknown>
}

/** The organization removed its mail provider. */
export type ProviderDeleted = {
  kind: string
  actor: Actor
}

/** SenderCreated as JSON. */
export type SenderCreated = {
  sender: Sender
  actor: Actor
}

/** SenderUpdated as JSON. */
export type SenderUpdated = {
  sender: Sender
  /** Names of the fields that changed, for example isDefault, owner, sharedWith or smtpPassword. */
  changed: string[]
  actor: Actor
  /** What changed: the old and the new value of each public field in `changed`. */
  changes?: Record<string, unknown>
}

/** SenderDeleted as JSON. */
export type SenderDeleted = {
  sender: Sender
  actor: Actor
}

/** DomainVerified as JSON. */
export type DomainVerified = {
  domainId: string
  domain: string
  verifiedAt: string
  actor: Actor
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
  suppression: Suppression
  actor: Actor
}

/** A suppression was lifted: the next mail to the address is tried. */
export type SuppressionDeleted = {
  suppression: Suppression
  actor: Actor
}

/** A webhook endpoint was created. It does not receive this event itself. */
export type WebhookCreated = {
  webhook: Webhook
  actor: Actor
}

/** WebhookUpdated as JSON. */
export type WebhookUpdated = {
  webhook: Webhook
  /** Names of the fields that changed; secret for a rotation. */
  changed: string[]
  actor: Actor
  /** What changed: the old and the new value of each public field in `changed`. */
  changes?: Record<string, unknown>
}

/** WebhookDeleted as JSON. */
export type WebhookDeleted = {
  webhook: Webhook
  actor: Actor
}

/** Every attempt at an endpoint has failed for 24 hours. */
export type WebhookFailing = {
  webhook: Webhook
  actor: Actor
}

/** An endpoint was switched off, because it answered 410 or every attempt has failed for five days. */
export type WebhookDisabled = {
  webhook: Webhook
  actor: Actor
}

/** An example was sent to an endpoint on request. */
export type WebhookTested = {
  webhookId: string
  /** Type of the example. */
  type: string
  /** Whether the endpoint accepted it. */
  delivered: boolean
  actor: Actor
}

/** Deliveries of an endpoint were scheduled again on request. */
export type WebhookRecovered = {
  webhookId: string
  since: string
  scheduled: number
  actor: Actor
}

/** A delivery was sent again on request. */
export type WebhookReplayed = {
  webhookId: string
  deliveryId: string
  actor: Actor
}

/** The data of every event by its type. */
export type Events = {
  'contact.created': ContactCreated
  'contact.updated': ContactUpdated
  'contact.unsubscribed': ContactUnsubscribed
  'contact.blocked': ContactBlocked
  'contact.unblocked': ContactUnblocked
  'contact.deleted': ContactDeleted
  'contact.erased': ContactErased
  'contact.data_exported': ContactDataExported
  'contact.confirmed': ContactConfirmed
  'triggers.audience.added_to_list': ContactAddedToList
  'contact.removed_from_list': ContactRemovedFromList
  'audience.exported': AudienceExported
  'attribute.created': AttributeCreated
  'attribute.updated': AttributeUpdated
  'attribute.deleted': AttributeDeleted
  'contact.restored': ContactRestored
  'audience.bulk_started': BulkStarted
  'audience.bulk_cancelled': BulkCancelled
  'audience.bulk_completed': BulkCompleted
  'list.created': ListCreated
  'list.updated': ListUpdated
  'list.deleted': ListDeleted
  'segment.created': SegmentCreated
  'segment.updated': SegmentUpdated
  'segment.deleted': SegmentDeleted
  'template.created': TemplateCreated
  'template.updated': TemplateUpdated
  'template.deleted': TemplateDeleted
  'campaign.created': CampaignCreated
  'campaign.updated': CampaignUpdated
  'campaign.deleted': CampaignDeleted
  'campaign.scheduled': CampaignScheduled
  'campaign.unscheduled': CampaignUnscheduled
  'campaign.failed': CampaignFailed
  'campaign.tested': CampaignTested
  'campaign.started': CampaignStarted
  'campaign.finished': CampaignFinished
  'campaign.paused': CampaignPaused
  'campaign.resumed': CampaignResumed
  'campaign.retried': CampaignRetried
  'campaign.cancelled': CampaignCancelled
  'link.created': LinkCreated
  'link.updated': LinkUpdated
  'link.deleted': LinkDeleted
  'link.clicked': LinkClicked
  'collection.created': CollectionCreated
  'collection.updated': CollectionUpdated
  'collection.deleted': CollectionDeleted
  'form.submitted': FormSubmitted
  'collection.entry_created': CollectionEntryCreated
  'collection.entry_updated': CollectionEntryUpdated
  'collection.entry_deleted': CollectionEntryDeleted
  'token.created': TokenCreated
  'token.updated': TokenUpdated
  'token.deleted': TokenDeleted
  'token.refused': TokenRefused
  'role.saved': RoleSaved
  'role.deleted': RoleDeleted
  'session.created': SessionCreated
  'session.impersonated': SessionImpersonated
  'session.exchanged': SessionExchanged
  'session.ended': SessionEnded
  'session.failed': SessionFailed
  'user.created': UserCreated
  'user.updated': UserUpdated
  'user.role_changed': UserRoleChanged
  'user.blocked': UserBlocked
  'user.unblocked': UserUnblocked
  'user.deleted': UserDeleted
  'user.device_revoked': UserDeviceRevoked
  'user.password_reset_requested': UserPasswordResetRequested
  'user.code_requested': UserCodeRequested
  'user.email_change_requested': UserEmailChangeRequested
  'user.password_set': UserPasswordSet
  'user.email_verified': UserEmailVerified
  'user.password_removed': UserPasswordRemoved
  'user.second_factor_started': UserSecondFactorStarted
  'user.second_factor_enabled': UserSecondFactorEnabled
  'user.second_factor_disabled': UserSecondFactorDisabled
  'user.second_factor_reset': UserSecondFactorReset
  'user.recovery_codes_renewed': UserRecoveryCodesRenewed
  'user.features_changed': UserFeaturesChanged
  'workspace.created': WorkspaceCreated
  'workspace.updated': WorkspaceUpdated
  'workspace.deleted': WorkspaceDeleted
  'member.added': MemberAdded
  'member.role_changed': MemberRoleChanged
  'member.removed': MemberRemoved
  'invitation.created': InvitationCreated
  'invitation.accepted': InvitationAccepted
  'invitation.declined': InvitationDeclined
  'invitation.revoked': InvitationRevoked
  'settings.updated': SettingsUpdated
  'feature.created': FeatureCreated
  'feature.updated': FeatureUpdated
  'feature.deleted': FeatureDeleted
  'audience.import_uploaded': ImportUploaded
  'audience.import_started': ImportStarted
  'audience.import_undo_started': ImportUndoStarted
  'audience.import_completed': ImportCompleted
  'audience.import_failed': ImportFailed
  'audience.import_cancelled': ImportCancelled
  'audience.import_undone': ImportUndone
  'email.domain.created': DomainCreated
  'email.domain.deleted': DomainDeleted
  'email.domain.checked': DomainChecked
  'email.domain.key_rotated': DomainKeyRotated
  'email.provider.updated': ProviderUpdated
  'email.provider.deleted': ProviderDeleted
  'email.sender.created': SenderCreated
  'email.sender.updated': SenderUpdated
  'email.sender.deleted': SenderDeleted
  'email.domain.verified': DomainVerified
  'email.domain.degraded': DomainDegraded
  'email.scheduled': EmailProgress
  'email.queued': EmailProgress
  'email.sent': EmailProgress
  'email.delivered': EmailProgress
  'email.opened': EmailProgress
  'email.clicked': EmailProgress
  'email.bounced': EmailProgress
  'email.complained': EmailProgress
  'email.failed': EmailProgress
  'email.cancelled': EmailProgress
  'email.suppressed': EmailProgress
  'suppression.created': SuppressionCreated
  'suppression.deleted': SuppressionDeleted
  'webhook.created': WebhookCreated
  'webhook.updated': WebhookUpdated
  'webhook.deleted': WebhookDeleted
  'webhook.failing': WebhookFailing
  'webhook.disabled': WebhookDisabled
  'webhook.tested': WebhookTested
  'webhook.recovered': WebhookRecovered
  'webhook.replayed': WebhookReplayed
}

/** The type of an event. */
export type EventType = keyof Events
