// Generated from the protos by `npm run generate`. Do not edit.

import type { AudienceListJson, ContactJson } from './audience-v1.ts'
import type { FeatureJson, InvitationJson, MemberJson, RoleJson, TokenJson, UserJson, WorkspaceJson } from './identity-v1.ts'
import type { ActorJson } from './types.ts'
export type ContactCreated = {
  contact: ContactJson
  actor: ActorJson
}

export type ContactUpdated = {
  contactId: string
  /** Names of the fields that changed; attributes as attributes.<slug>. */
  changed: string[]
  actor: ActorJson
}

export type ContactBlocked = {
  contactId: string
  reason?: string
  actor: ActorJson
}

export type ContactUnblocked = {
  contactId: string
  actor: ActorJson
}

export type ContactDeleted = {
  contactId: string
  email: string
  actor: ActorJson
}

/** A contact is on a list from now on. Told once for each time it comes to a list, whatever the way in. */
export type ContactAddedToList = {
  contactId: string
  listId: string
  /** The way in. */
  source: 'api' | 'import' | 'form' | 'workflow'
  at: string
}

export type ListCreated = {
  list: AudienceListJson
  actor: ActorJson
}

export type ListUpdated = {
  list: AudienceListJson
  /** Names of the fields that changed. */
  changed: string[]
  actor: ActorJson
}

export type ListDeleted = {
  list: AudienceListJson
  actor: ActorJson
}

export type TokenCreated = {
  /** The token as its list shows it; never the secret. */
  token: TokenJson
  actor: ActorJson
}

export type TokenUpdated = {
  token: TokenJson
  /** Names of the fields that changed. */
  changed: string[]
  actor: ActorJson
}

export type TokenDeleted = {
  token: TokenJson
  actor: ActorJson
}

export type RoleSaved = {
  role: RoleJson
  /** Tokens and members whose permissions the save changed. */
  affectedTokens: number
  affectedMembers: number
  actor: ActorJson
}

export type RoleDeleted = {
  role: RoleJson
  actor: ActorJson
}

export type SessionCreated = {
  userId: string
  ip: string
  userAgent: string
  at: string
  actor: ActorJson
}

/** Someone acts as a user, read-only. The actor is who does. */
export type SessionImpersonated = {
  userId: string
  ip: string
  userAgent: string
  at: string
  expiresAt: string
  actor: ActorJson
}

/** A client traded the actor's credential for a JWT of its own. */
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

export type SessionEnded = {
  userId: string
  at: string
  /** Who ended it: the person, or an administrator. */
  actor: ActorJson
}

/** Somebody failed to sign in to an account. */
export type SessionFailed = {
  userId: string
  /** blocked: the account is. */
  reason: 'password' | 'code' | 'blocked'
  ip: string
  userAgent: string
  at: string
  actor: ActorJson
}

export type UserCreated = {
  user: UserJson
  actor: ActorJson
}

export type UserUpdated = {
  user: UserJson
  /** Names of the fields that changed. */
  changed: string[]
  actor: ActorJson
}

export type UserRoleChanged = {
  userId: string
  /** Names of the roles. */
  from: string
  to: string
  actor: ActorJson
}

export type UserBlocked = {
  userId: string
  actor: ActorJson
}

export type UserUnblocked = {
  userId: string
  actor: ActorJson
}

export type UserDeleted = {
  user: UserJson
  actor: ActorJson
}

export type UserDeviceRevoked = {
  userId: string
  /** Name of the device. */
  device: string
  actor: ActorJson
}

export type UserPasswordSet = {
  userId: string
  actor: ActorJson
}

/** Somebody showed for the first time that the mailbox of the account is theirs. */
export type UserEmailVerified = {
  userId: string
  actor: ActorJson
}

/** The mailbox of the account, never proven here, was proven elsewhere: its password and sessions ended. */
export type UserPasswordRemoved = {
  userId: string
  actor: ActorJson
}

export type UserFeaturesChanged = {
  userId: string
  /** The user's own, as they are now. */
  features: Record<string, boolean | null>
  actor: ActorJson
}

export type WorkspaceCreated = {
  workspace: WorkspaceJson
  actor: ActorJson
}

export type WorkspaceUpdated = {
  workspace: WorkspaceJson
  /** Names of the fields that changed. */
  changed: string[]
  actor: ActorJson
}

/** Its memberships and invitations go with it, without events of their own. */
export type WorkspaceDeleted = {
  workspace: WorkspaceJson
  actor: ActorJson
}

export type MemberAdded = {
  member: MemberJson
  workspaceId: string
  actor: ActorJson
}

export type MemberRoleChanged = {
  memberId: string
  workspaceId: string
  userId: string
  /** Names of the roles. */
  from: string
  to: string
  actor: ActorJson
}

export type MemberRemoved = {
  member: MemberJson
  workspaceId: string
  actor: ActorJson
}

export type InvitationCreated = {
  /** As its list shows it; never the secret. */
  invitation: InvitationJson
  workspaceId: string
  actor: ActorJson
}

export type InvitationAccepted = {
  invitation: InvitationJson
  workspaceId: string
  userId: string
  actor: ActorJson
}

export type InvitationDeclined = {
  invitation: InvitationJson
  workspaceId: string
  actor: ActorJson
}

export type InvitationRevoked = {
  invitation: InvitationJson
  workspaceId: string
  actor: ActorJson
}

export type FeatureCreated = {
  feature: FeatureJson
  actor: ActorJson
}

export type FeatureUpdated = {
  feature: FeatureJson
  /** Names of the fields that changed. */
  changed: string[]
  actor: ActorJson
}

export type FeatureDeleted = {
  feature: FeatureJson
  actor: ActorJson
}

export type ImportCompleted = {
  jobId: string
  total: number
  created: number
  updated: number
  unchanged: number
  skipped: number
  failed: number
}

/** An import ended with an error. The counts are what it had done by then, which stays. */
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

/** An import was cancelled. The counts are what it had done by then, which stays. */
export type ImportCancelled = {
  jobId: string
  total: number
  created: number
  updated: number
  unchanged: number
  skipped: number
  failed: number
}

/** An import was taken back, as far as nobody had changed its contacts since. */
export type ImportUndone = {
  /** The import, and the job that took it back. */
  jobId: string
  undoJobId: string
  /** Contacts that are gone, that are as they were before, and that stay since somebody has changed them. */
  removed: number
  restored: number
  kept: number
}

export type DomainVerified = {
  domainId: string
  domain: string
  verifiedAt: string
  actor: ActorJson
}

/** Records of a verified domain have been wrong for a while. Sending goes on. */
export type DomainDegraded = {
  domainId: string
  domain: string
  degradedAt: string
  /** Each failing record and why. */
  reasons: string[]
}

/** What became of a mail. queued: it was accepted for sending. sent: the receiving server took it. bounced: that server refused it for good. failed: it could not be handed over, after every attempt. */
export type EmailProgress = {
  emailId: string
  to: string
  subject: string
  /** Address it goes out from. */
  sender: string
  /** Whom it is for: a contact or a user by id. A message of the organization that names nobody is for whichever contact has the address; account mail that names nobody is in nobody's history. */
  contactId?: string
  userId?: string
  at: string
  /** Of bounced and failed: what the receiving server said, or what kept it from being asked. */
  error?: string
  /** account: mail of the installation itself (codes, links, invitations), which is the user's alone; so is mail that does not say. The others are messages of the organization. */
  kind?: 'account' | 'transactional' | 'campaign' | 'test'
}
