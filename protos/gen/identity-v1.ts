// Generated from the protos by `npm run generate`. Do not edit.

import type { HttpBody } from './api.ts'
import type { Actor, Empty, IdRequest, ListOfRequest, ListQuery, ListRequest, Updated } from './types.ts'
/** Signing in and out, and who the caller is. */
export type Authentication = {
  /** Makes an organization and its owner, and signs the owner in. Open only where the operator opened it. */
  register: { kind: 'unary'; request: RegisterRequest; response: HttpBody }
  /** Signs in with email and password. Sets the HttpOnly cookie auth_token as well. */
  login: { kind: 'unary'; request: LoginRequest; response: HttpBody }
  /** Ends the caller's session. */
  logout: { kind: 'unary'; request: Empty; response: Updated }
  /** Mails whoever has an account of this email how to set a new password. The answer is the same where nobody has. */
  forgotPassword: { kind: 'unary'; request: ForgotPasswordRequest; response: Updated }
  /** Sets the password of whoever got the mail with the token, once. Every session of the account ends. */
  resetPassword: { kind: 'unary'; request: ResetPasswordRequest; response: Updated }
  /** The caller: kind of credential, user, organization, role and permissions. */
  getMe: { kind: 'unary'; request: Empty; response: HttpBody }
}

/** Turns credentials into callers. Internal: the gateway's question on a cache miss. */
export type Credentials = {
  resolveToken: { kind: 'unary'; request: ResolveTokenRequest; response: ResolvedCredential }
  resolveSession: { kind: 'unary'; request: ResolveSessionRequest; response: ResolvedCredential }
}

export type User = {
  name: string
  email: string
  image: string
  role: string
  blocked: boolean
  blockedAt: string
  emailVerified: boolean
  tags: string[]
  attributes: string
  country: string
  timezone: string
  language: string
  currency: string
  lastLoginAt: string
}

export type Organization = {
  name: string
}

export type SignIn = {
  /** The session JWT. */
  token: string
  expiresAt: string
  user?: User | null
}

export type Registration = {
  /** The session JWT. */
  token: string
  expiresAt: string
  user?: User | null
  organization?: Organization | null
}

export type Me = {
  kind: 'session' | 'token'
  /** The user, or the token's creator. */
  user?: User | null
  organization?: Organization | null
  role: string
  /** resource.action pairs; "*" stands for all of them. */
  permissions: string[]
  /** The token in use. */
  token?: MeTokenInUse | null
  /** Id of the person behind a read-only impersonation. */
  impersonatedBy?: string
}

export type MeTokenInUse = {
  id: string
  name: string
}

export type RegisterRequest = {
  name: string
  email: string
  /** 8 to 200 characters. */
  password: string
  /** Name of the organization; the person's own where it is not given. */
  organization?: string
}

export type LoginRequest = {
  email: string
  password: string
  /** Needed where email and password fit accounts of several organizations. */
  orgId?: string
}

export type ForgotPasswordRequest = {
  email: string
  /** Only the account of this organization. */
  orgId?: string
}

export type ResetPasswordRequest = {
  /** From the mail. */
  token: string
  /** 8 to 200 characters. */
  password: string
}

export type ResolveTokenRequest = {
  organizationId: string
  /** HMAC-SHA-256 of the secret under the server key, base64url. */
  hash: string
}

export type ResolveSessionRequest = {
  organizationId: string
  sessionId: string
  userId: string
}

export type ResolvedCredential = {
  kind: string
  organizationId: string
  userId: string
  userName: string
  sessionId?: string
  tokenId?: string
  tokenName?: string
  role: string
  /** resource.action pairs; ["*"] is all of them. */
  permissions: string[]
  readOnly: boolean
  impersonatorId?: string
  /** ISO 8601; absent: never. */
  expiresAt?: string
  /** CIDR blocks the token may come from; none: any. */
  allowedIps: string[]
}

/** Who the accounts of the caller's organization are. Internal: for services that refer to users. */
export type Directory = {
  /** The accounts with these ids, in no order; ids that are unknown or of another organization are left out. */
  findUsers: { kind: 'unary'; request: FindUsersRequest; response: FindUsersResponse }
}

export type FindUsersRequest = {
  ids: string[]
}

export type FindUsersResponse = {
  users: DirectoryUser[]
}

export type DirectoryUser = {
  id: string
  name: string
  email: string
  role: string
  blocked: boolean
}

/** Roles: named sets of permissions, for tokens (kind api) or members (kind user). */
export type Roles = {
  /** Lists roles, built-in ones first. Honours the shared list parameters. */
  listRoles: { kind: 'server_stream'; request: ListRolesRequest; response: HttpBody }
  /** Creates a role or saves the one of this name. Its permissions change for everyone who carries it at once. */
  saveRole: { kind: 'unary'; request: SaveRoleRequest; response: HttpBody }
  /** Deletes a role that no member carries; tokens on it are refused from then on. */
  deleteRole: { kind: 'unary'; request: IdRequest; response: HttpBody }
  /** The catalogue of resources and actions that a role can grant. */
  listPermissions: { kind: 'unary'; request: Empty; response: HttpBody }
}

export type Role = {
  name: string
  kind: 'api' | 'user' | 'both'
  builtIn: boolean
  /** Actions by resource. */
  permissions: string
  description: string
  tokenCount: number
  memberCount: number
}

export type SavedRole = {
  name: string
  kind: 'api' | 'user'
  builtIn: boolean
  permissions: string
  description: string
  tokenCount: number
  memberCount: number
  /** Tokens and members whose permissions this save changed. */
  affected?: SavedRoleAffected | null
}

export type SavedRoleAffected = {
  tokens: number
  members: number
}

export type Permission = {
  resource: string
  actions: string[]
  description: string
}

export type ListRolesRequest = {
  list?: ListQuery | null
  /** api: roles a token may take; user: roles a member may take; omitted: both. */
  kind?: 'api' | 'user'
}

export type SaveRoleRequest = {
  name: string
  /** Fixed at creation. */
  kind: 'api' | 'user'
  /** Actions (read, create, update, delete) by resource. */
  permissions: string
  description?: string
}

/** API tokens: credentials of programs. */
export type Tokens = {
  /** Lists tokens, newest first; never their secrets. Honours the shared list parameters. */
  listTokens: { kind: 'server_stream'; request: ListRequest; response: HttpBody }
  /** Creates a token. Its full value is in this answer and nowhere else. */
  createToken: { kind: 'unary'; request: CreateTokenRequest; response: HttpBody }
  /** One token. */
  getToken: { kind: 'unary'; request: IdRequest; response: HttpBody }
  /** Updates name, description, active or archived: at least one. Takes effect on the very next request. */
  updateToken: { kind: 'unary'; request: UpdateTokenRequest; response: Updated }
  /** Deletes the token: it is refused from the very next request. */
  deleteToken: { kind: 'unary'; request: IdRequest; response: HttpBody }
}

export type Token = {
  name: string
  description: string
  expiresAt: string
  /** Name of an API role; null: the token authorizes as its creator. */
  role: string
  active: boolean
  archived: boolean
  tokenPreview: string
  status: 'active' | 'inactive' | 'archived' | 'expired' | 'role-missing' | 'creator-missing'
  createdBy?: Actor | null
  lastUsedAt: string
  lastUsedIp: string
}

export type CreatedToken = {
  name: string
  description: string
  expiresAt: string
  role: string
  active: boolean
  archived: boolean
  tokenPreview: string
  status: string
  createdBy?: Actor | null
  lastUsedAt: string
  lastUsedIp: string
  /** The full credential, <orgId>:<secret>. */
  token: string
}

export type CreateTokenRequest = {
  name: string
  description?: string
  /** A date in the future. */
  expiresAt?: string
  /** Name of an API role; omitted: the token authorizes as its creator. */
  role?: string
}

export type UpdateTokenRequest = {
  id: string
  name?: string
  description?: string
  active?: boolean
  archived?: boolean
}

/** User accounts of the organization. */
export type Users = {
  /** Lists users, newest first. Honours the shared list parameters. */
  listUsers: { kind: 'server_stream'; request: ListRequest; response: HttpBody }
  /** One user. */
  getUser: { kind: 'unary'; request: IdRequest; response: HttpBody }
  /** Creates an account. Without a password the person gets a mail to set one. */
  createUser: { kind: 'unary'; request: CreateUserRequest; response: HttpBody }
  /** Updates the profile: at least one field. */
  updateUser: { kind: 'unary'; request: UpdateUserRequest; response: Updated }
  /** Replaces the user's tags; [] clears them. */
  replaceUserTags: { kind: 'unary'; request: ReplaceUserTagsRequest; response: Updated }
  /** Blocks the user: every session ends at once, nobody can sign in to the account. Not oneself, not the last owner. */
  blockUser: { kind: 'unary'; request: IdRequest; response: Updated }
  /** Restores access; sessions that had ended stay ended. */
  unblockUser: { kind: 'unary'; request: IdRequest; response: Updated }
  /** Changes the organization-level role, at once for everything the user does. Not beyond the caller's own permissions; not the last owner's. */
  changeRole: { kind: 'unary'; request: ChangeRoleRequest; response: Updated }
  /** Deletes the account for good: sessions end, its tokens are refused. Contacts stay. Not oneself, not the last owner. */
  deleteUser: { kind: 'unary'; request: IdRequest; response: HttpBody }
  /** Active sessions. */
  listUserSessions: { kind: 'server_stream'; request: ListOfRequest; response: HttpBody }
  /** Devices that the user signed in from. */
  listUserDevices: { kind: 'server_stream'; request: ListOfRequest; response: HttpBody }
  /** What the user did: sign-ins and changes, newest first. */
  listUserActivities: { kind: 'server_stream'; request: ListOfRequest; response: HttpBody }
  /** Ends one session at once. */
  revokeUserSession: { kind: 'unary'; request: RevokeUserSessionRequest; response: HttpBody }
  /** Forgets a device and ends its sessions at once. */
  revokeUserDevice: { kind: 'unary'; request: RevokeUserDeviceRequest; response: HttpBody }
}

export type Session = {
  /** Opaque; never the credential. */
  sessionRef: string
  /** For example "Firefox on Linux". */
  device: string
  ip: string
  userAgent: string
  /** To within a few minutes. */
  lastActiveAt: string
  expiresAt: string
  /** The session that asks. */
  current: boolean
  /** Id of the person behind a read-only impersonation. */
  impersonatedBy: string
}

export type Device = {
  deviceId: string
  /** For example "Firefox on Linux". */
  name: string
  /** With the version that was seen last. */
  browser: string
  os: string
  /** desktop, mobile, tablet, tv, bot or unknown. */
  type: string
  lastIp: string
  firstSeenAt: string
  /** The last sign-in from it. */
  lastSeenAt: string
  /** The device that asks. */
  current: boolean
}

export type Activity = {
  /** That of the event: session.created, token.created, user.blocked and so on. */
  type: string
  at: string
  /** The person, or the token that acted as the person. */
  actor?: Actor | null
  data: string
}

export type CreateUserRequest = {
  name: string
  email: string
  password?: string
  /** A built-in role or one of kind user; user where it is not given. */
  role?: string
}

export type UpdateUserRequest = {
  id: string
  name?: string
  image?: string
  /** ISO 3166-1 alpha-2. */
  country?: string
  /** IANA time zone. */
  timezone?: string
  /** BCP 47 tag. */
  language?: string
  /** ISO 4217. */
  currency?: string
  /** Up to 50 scalar values, merged into those there are; null removes one. Names of letters, digits, _ and -; texts of up to 1000 characters. */
  attributes?: string
}

export type ReplaceUserTagsRequest = {
  id: string
  tags: string[]
}

export type ChangeRoleRequest = {
  id: string
  /** A built-in role or one of kind user. */
  role: string
}

export type RevokeUserSessionRequest = {
  id: string
  sessionRef: string
}

export type RevokeUserDeviceRequest = {
  id: string
  deviceId: string
}
