// Generated from the protos by `npm run generate`. Do not edit.

import type { Actor } from './types.ts'
export type ContactCreated = {
  contact: string
  actor?: Actor | null
}

export type ContactUpdated = {
  contactId: string
  /** Names of the fields that changed; attributes as attributes.<slug>. */
  changed: string[]
  actor?: Actor | null
}

export type ContactBlocked = {
  contactId: string
  reason?: string
  actor?: Actor | null
}

export type ContactUnblocked = {
  contactId: string
  actor?: Actor | null
}

export type ContactDeleted = {
  contactId: string
  email: string
  actor?: Actor | null
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
  list: string
  actor?: Actor | null
}

export type ListUpdated = {
  list: string
  /** Names of the fields that changed. */
  changed: string[]
  actor?: Actor | null
}

export type ListDeleted = {
  list: string
  actor?: Actor | null
}

export type TokenCreated = {
  /** The token as its list shows it; never the secret. */
  token: string
  actor?: Actor | null
}

export type TokenUpdated = {
  token: string
  /** Names of the fields that changed. */
  changed: string[]
  actor?: Actor | null
}

export type TokenDeleted = {
  token: string
  actor?: Actor | null
}

export type RoleSaved = {
  role: string
  /** Tokens and members whose permissions the save changed. */
  affectedTokens: number
  affectedMembers: number
  actor?: Actor | null
}

export type RoleDeleted = {
  role: string
  actor?: Actor | null
}

export type SessionCreated = {
  userId: string
  ip: string
  userAgent: string
  at: string
  actor?: Actor | null
}

/** Someone acts as a user, read-only. The actor is who does. */
export type SessionImpersonated = {
  userId: string
  ip: string
  userAgent: string
  at: string
  expiresAt: string
  actor?: Actor | null
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
  actor?: Actor | null
}

export type SessionEnded = {
  userId: string
  at: string
  /** Who ended it: the person, or an administrator. */
  actor?: Actor | null
}

/** Somebody failed to sign in to an account. */
export type SessionFailed = {
  userId: string
  /** password, code, or blocked (the account is). */
  reason: string
  ip: string
  userAgent: string
  at: string
  actor?: Actor | null
}

export type UserCreated = {
  user: string
  actor?: Actor | null
}

export type UserUpdated = {
  user: string
  /** Names of the fields that changed. */
  changed: string[]
  actor?: Actor | null
}

export type UserRoleChanged = {
  userId: string
  /** Names of the roles. */
  from: string
  to: string
  actor?: Actor | null
}

export type UserBlocked = {
  userId: string
  actor?: Actor | null
}

export type UserUnblocked = {
  userId: string
  actor?: Actor | null
}

export type UserDeleted = {
  user: string
  actor?: Actor | null
}

export type UserDeviceRevoked = {
  userId: string
  /** Name of the device. */
  device: string
  actor?: Actor | null
}

export type UserPasswordSet = {
  userId: string
  actor?: Actor | null
}

/** Somebody showed for the first time that the mailbox of the account is theirs. */
export type UserEmailVerified = {
  userId: string
  actor?: Actor | null
}

/** The mailbox of the account, never proven here, was proven elsewhere: its password and sessions ended. */
export type UserPasswordRemoved = {
  userId: string
  actor?: Actor | null
}

export type UserFeaturesChanged = {
  userId: string
  /** The user's own, as they are now. */
  features: string
  actor?: Actor | null
}

export type WorkspaceCreated = {
  workspace: string
  actor?: Actor | null
}

export type WorkspaceUpdated = {
  workspace: string
  /** Names of the fields that changed. */
  changed: string[]
  actor?: Actor | null
}

/** Its memberships and invitations go with it, without events of their own. */
export type WorkspaceDeleted = {
  workspace: string
  actor?: Actor | null
}

export type MemberAdded = {
  member: string
  workspaceId: string
  actor?: Actor | null
}

export type MemberRoleChanged = {
  memberId: string
  workspaceId: string
  userId: string
  /** Names of the roles. */
  from: string
  to: string
  actor?: Actor | null
}

export type MemberRemoved = {
  member: string
  workspaceId: string
  actor?: Actor | null
}

export type InvitationCreated = {
  /** As its list shows it; never the secret. */
  invitation: string
  workspaceId: string
  actor?: Actor | null
}

export type InvitationAccepted = {
  invitation: string
  workspaceId: string
  userId: string
  actor?: Actor | null
}

export type InvitationDeclined = {
  invitation: string
  workspaceId: string
  actor?: Actor | null
}

export type InvitationRevoked = {
  invitation: string
  workspaceId: string
  actor?: Actor | null
}

export type FeatureCreated = {
  feature: string
  actor?: Actor | null
}

export type FeatureUpdated = {
  feature: string
  /** Names of the fields that changed. */
  changed: string[]
  actor?: Actor | null
}

export type FeatureDeleted = {
  feature: string
  actor?: Actor | null
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
  actor?: Actor | null
}

/** Records of a verified domain have been wrong for a while. Sending goes on. */
export type DomainDegraded = {
  domainId: string
  domain: string
  degradedAt: string
  /** Each failing record and why. */
  reasons: string[]
}

/** A mail was accepted for sending. */
export type EmailQueued = {
  emailId: string
  to: string
  subject: string
  /** Address it goes out from. */
  sender: string
  /** Whom it is for: a contact or a user by id. A message of the organization that names nobody is for whichever contact has the address; account mail that names nobody is in nobody's history. */
  contactId?: string
  userId?: string
  at: string
  /** account: mail of the installation itself (codes, links, invitations), which is the user's alone; the others are messages of the organization. */
  kind: 'account' | 'transactional' | 'campaign' | 'test'
}

/** The receiving server took it. */
export type EmailSent = {
  emailId: string
  to: string
  subject: string
  /** Address it goes out from. */
  sender: string
  /** Whom it is for: a contact or a user by id. A message of the organization that names nobody is for whichever contact has the address; account mail that names nobody is in nobody's history. */
  contactId?: string
  userId?: string
  at: string
  /** account: mail of the installation itself (codes, links, invitations), which is the user's alone; the others are messages of the organization. */
  kind: 'account' | 'transactional' | 'campaign' | 'test'
}

/** The receiving server refused it for good. */
export type EmailBounced = {
  emailId: string
  to: string
  subject: string
  /** Address it goes out from. */
  sender: string
  /** Whom it is for: a contact or a user by id. A message of the organization that names nobody is for whichever contact has the address; account mail that names nobody is in nobody's history. */
  contactId?: string
  userId?: string
  at: string
  /** What the receiving server said, or what kept it from being asked. */
  error: string
  /** account: mail of the installation itself (codes, links, invitations), which is the user's alone; the others are messages of the organization. */
  kind: 'account' | 'transactional' | 'campaign' | 'test'
}

/** It could not be handed over, after every attempt. */
export type EmailFailed = {
  emailId: string
  to: string
  subject: string
  /** Address it goes out from. */
  sender: string
  /** Whom it is for: a contact or a user by id. A message of the organization that names nobody is for whichever contact has the address; account mail that names nobody is in nobody's history. */
  contactId?: string
  userId?: string
  at: string
  /** What the receiving server said, or what kept it from being asked. */
  error: string
  /** account: mail of the installation itself (codes, links, invitations), which is the user's alone; the others are messages of the organization. */
  kind: 'account' | 'transactional' | 'campaign' | 'test'
}
