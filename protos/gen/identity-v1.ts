// Generated from the protos by `npm run generate`. Do not edit.

import type { HttpBody } from './api.ts'
import type { ActorJson, Empty, IdRequest, ListOfRequest, ListQuery, ListRequest, Updated } from './types.ts'
/** Signing in and out, and the current caller. */
export type Authentication = {
  /** Creates an organization and its owner, and signs the owner in. Use it to open a new organization, not to add people to one. Available only if the operator enables it. Until the owner verifies the email address, by a mailed code or link, the organization can only send mail to the owner, and other accounts with the address take precedence. The first verification removes the account's password, sessions and API tokens. */
  register: { kind: 'unary'; request: RegisterRequest; response: HttpBody }
  /** Signs in with email and password. Use it for people; programs use API tokens. Also sets the HttpOnly cookie auth_token; over https its name is __Host-auth_token. After 10 failures within 15 minutes, of passwords and codes together, an account is locked for a minute: every attempt gets the same 401. Each further failure doubles the time, up to an hour. Signing in, or resetting the password with the mailed link, ends the lock. For an account with a second factor the answer is mfaRequired without a session, and mfaToken for POST /api/auth/mfa. */
  login: { kind: 'unary'; request: LoginRequest; response: HttpBody }
  /** Returns how people can sign in. Use it to show only the ways to sign in that this installation offers. Anyone may call it. It costs no query, and shows settings of the installation only. */
  getSignInOptions: { kind: 'unary'; request: Empty; response: HttpBody }
  /** Lists the organizations of the accounts that an email and a password match, at most four: one of them is the orgId of the sign-in. Use it if signing in answers that orgId is missing. Anyone may call it. It costs four password hashes at most. An unknown email and a wrong password get the same 401 after the same time, and count as failed sign-ins (see login). */
  listSignInOrganizations: { kind: 'unary'; request: ListSignInOrganizationsRequest; response: HttpBody }
  /** Ends the caller's session. Use it on shared machines, and to end a session that is no longer needed. */
  logout: { kind: 'unary'; request: Empty; response: Updated }
  /** Mails a link to set a new password to the accounts with this email. Use it when a person cannot sign in. The answer is the same if there is none. */
  forgotPassword: { kind: 'unary'; request: ForgotPasswordRequest; response: Updated }
  /** Sets a new password with the mailed token, once. Use it on the page that the mailed link opens. This also verifies the email address. Ends all sessions of the account, including those exchanged for a session or an API token. API tokens stay active unless deactivateTokens is true. */
  resetPassword: { kind: 'unary'; request: ResetPasswordRequest; response: Updated }
  /** Changes the email address of an account with the token of the link that POST /api/me/email mailed, once. Use it on the page that the mailed link opens. The new address is verified then, mailed links to set a password stop working, and the old address gets a notice. Anyone with the token may call it; a stranger learns nothing. It costs one transaction. */
  verifyEmail: { kind: 'unary'; request: VerifyEmailRequest; response: Updated }
  /** Mails a sign-in code to the accounts with this email. Use it to sign in without a password. The code has six digits and is valid once, for 10 minutes and 5 attempts. It belongs to the requestId of the answer; other requests do not invalidate it. An address gets at most 5 codes an hour and 20 a day. The answer is the same beyond that, and if there is no account. */
  requestOtp: { kind: 'unary'; request: RequestOtpRequest; response: RequestOtpResponse }
  /** Signs in with the mailed code, which also verifies the email address. Use it with the code that the person typed in. The first verification removes the password and the other sessions of the account, since someone else may have created it, and those of other unverified accounts with the address. Also sets the HttpOnly cookie auth_token; over https its name is __Host-auth_token. With its requestId, a code also works while the account is locked (see login). After 30 wrong codes within a day, an address accepts no more codes. For an account with a second factor the answer is as for login. */
  verifyOtp: { kind: 'unary'; request: VerifyOtpRequest; response: HttpBody }
  /** Completes a sign-in of an account with a second factor: call it with the mfaToken of login or otp/verify, and a code of the authenticator app or a recovery code. Use it when the answer of either is mfaRequired. Anyone with the token may call it, for five minutes and five tries. Each code works once. Wrong codes count as failed sign-ins (see login), and a locked account gets the same 401. It costs one transaction. A change of the password, the email or the second factor ends the sign-in. Also sets the HttpOnly cookie auth_token; over https its name is __Host-auth_token. */
  verifyMfa: { kind: 'unary'; request: VerifyMfaRequest; response: HttpBody }
  /** Impersonates another user, read-only, for 30 minutes: methods other than GET, HEAD and OPTIONS get 403. Use it to see what a user sees, when they ask for help. Allowed only for owners, admins and tokens with their permissions; no role can grant it. An admin cannot impersonate an owner, and nobody can impersonate themselves or a blocked account. The impersonation is listed among the user's sessions and can be ended there. It ends at once with the credential that started it, and when the impersonator is blocked, deleted or given another role. */
  impersonate: { kind: 'unary'; request: ImpersonateRequest; response: HttpBody }
  /** Exchanges a session JWT or an API token for a JWT that is limited to a scope and valid for at most an hour (RFC 8693). Use it to hand a program less than your own rights. For registered clients. Errors, including 401, have the form of RFC 6749, {error, error_description}: only this route and /api/auth/clients do not use the three error shapes. The JWT is valid no longer than the credential it was made from, and is listed among the user's sessions under the client's name. An exchanged JWT or an impersonation cannot be exchanged. Delegation (actor_token) is not supported. Tokens are issued for this API only. */
  exchangeToken: { kind: 'unary'; request: ExchangeTokenRequest; response: HttpBody }
  /** Registers a client for token exchange (RFC 7591). Use it once per program that exchanges tokens. Only this answer contains its secret. A client that is not used within a day, or for 90 days, is deleted. Metadata that is not listed here is ignored. Errors have the form of RFC 7591, {error, error_description}. */
  registerClient: { kind: 'unary'; request: RegisterClientRequest; response: HttpBody }
  /** Returns the caller: kind of credential, user, organization, role and permissions. Use it to check a credential. */
  getMe: { kind: 'unary'; request: Empty; response: HttpBody }
}

/** Resolves credentials to callers. Internal: the gateway calls it on a cache miss. */
export type Credentials = {
  resolveToken: { kind: 'unary'; request: ResolveTokenRequest; response: ResolvedCredential }
  resolveSession: { kind: 'unary'; request: ResolveSessionRequest; response: ResolvedCredential }
}

/** User as JSON. */
export type UserJson = {
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

/** The public fields of User. */
export const userFields = {
  'name': 'string',
  'email': 'string',
  'image': 'string',
  'role': 'string',
  'blocked': 'boolean',
  'blockedAt': 'date',
  'emailVerified': 'boolean',
  'tags': 'string[]',
  'attributes': 'object',
  'country': 'string',
  'timezone': 'string',
  'language': 'string',
  'currency': 'string',
  'lastLoginAt': 'date',
  'secondFactorAt': 'date',
} as const

/** Organization as JSON. */
export type OrganizationJson = {
  _id: string
  id: string
  name: string
  createdAt: string
  updatedAt: string
}

/** The public fields of Organization. */
export const organizationFields = {
  'name': 'string',
} as const

/** SignIn as JSON. */
export type SignInJson = {
  /** The session JWT. */
  token: string
  expiresAt: string
  user: UserJson
}

/** A session; or mfaRequired with mfaToken and methods, if the account has a second factor. */
export type FirstFactorJson = {
  /** The session JWT. */
  token?: string
  expiresAt?: string
  user?: UserJson
  /** true, or absent with a session. */
  mfaRequired?: boolean
  /** Valid for 5 minutes and 5 tries. */
  mfaToken?: string
  /** What POST /api/auth/mfa accepts: totp and recovery_code. */
  methods?: string[]
}

/** Impersonation as JSON. */
export type ImpersonationJson = {
  /** The session JWT. */
  token: string
  expiresAt: string
  user: UserJson
  /** Reference of the session, to end it with DELETE /api/users/{id}/sessions/{sessionRef}. */
  sessionRef: string
}

/** SignInOptions as JSON. */
export type SignInOptionsJson = {
  /** open: anyone may register an organization. */
  registration: 'open' | 'closed'
  /** Fewest characters of a new password. */
  passwordMinLength: number
  /** Names of the identity providers to sign in with. None is supported yet. */
  oidc: string[]
}

/** SignInOrganization as JSON. */
export type SignInOrganizationJson = {
  _id: string
  name: string
}

/** Registration as JSON. */
export type RegistrationJson = {
  /** The session JWT. */
  token: string
  expiresAt: string
  user: UserJson
  organization: OrganizationJson
}

/** Me as JSON. */
export type MeJson = {
  kind: 'session' | 'token'
  /** The user, or the token's creator. */
  user: UserJson
  organization: OrganizationJson
  role: string
  /** resource.action pairs, or "*" for all of them. */
  permissions: string[]
  /** The token that authenticated the request. */
  token?: MeTokenInUseJson
  /** Id of the user behind a read-only impersonation. */
  impersonatedBy?: string
  /** Second factor of the user, or of the token's creator. */
  mfa: MeMfaJson
}

/** MeMfa as JSON. */
export type MeMfaJson = {
  /** Whether an authenticator app is set up. */
  totp: boolean
  recoveryCodesLeft: number
  /** Whether the organization requires a second factor of its people. */
  required: boolean
}

/** MeTokenInUse as JSON. */
export type MeTokenInUseJson = {
  _id: string
  id: string
  name: string
}

/** The public fields of MeTokenInUse. */
export const meTokenInUseFields = {
  'name': 'string',
} as const

export type RegisterRequest = {
  name: string
  email: string
  /** 8 to 200 characters, not one of the most common passwords. */
  password: string
  /** Name of the organization. Default: the user's name. */
  organization?: string
}

export type LoginRequest = {
  email: string
  password: string
  /** Required if email and password match accounts of several organizations, or the email has more than four accounts. */
  orgId?: string
}

export type ListSignInOrganizationsRequest = {
  email: string
  password: string
}

export type ForgotPasswordRequest = {
  email: string
  /** Limits the request to the account of this organization. */
  orgId?: string
}

export type ResetPasswordRequest = {
  /** Secret from the mailed link. */
  token: string
  /** 8 to 200 characters, not one of the most common passwords. */
  password: string
  /** Also deactivates the API tokens that the account created, in case someone else knows them. The mail says how many. */
  deactivateTokens?: boolean
}

export type VerifyEmailRequest = {
  /** Secret from the mailed link. */
  token: string
}

export type RequestOtpRequest = {
  email: string
  /** Limits the request to the account of this organization. */
  orgId?: string
}

export type RequestOtpResponse = {
  success: boolean
  message: string
  /** Id of the request that the code belongs to. Send it with the code. */
  requestId: string
}

export type VerifyOtpRequest = {
  email: string
  /** The six digits from the mail. */
  code: string
  /** Required if the email has accounts in several organizations. */
  orgId?: string
  /** requestId of the answer to otp/request. Required if several requests for the email are open. */
  requestId?: string
}

export type VerifyMfaRequest = {
  mfaToken: string
  /** The six digits of the authenticator app, or a recovery code. */
  code: string
}

export type ImpersonateRequest = {
  userId: string
  /** Why, for the audit trail of both. */
  reason?: string
}

export type ExchangeTokenRequest = {
  /** urn:ietf:params:oauth:grant-type:token-exchange */
  grantType: string
  /** Alternatively, use Authorization: Basic. */
  clientId?: string
  clientSecret?: string
  /** The session JWT or API token to exchange. Required. */
  subjectToken?: string
  /** urn:ietf:params:oauth:token-type:access_token, or ...:jwt for a session JWT. Required. */
  subjectTokenType?: string
  /** urn:ietf:params:oauth:token-type:access_token (the default) or ...:jwt. */
  requestedTokenType?: string
  /** resource.action pairs that the subject has, separated by spaces. Default: all of them. */
  scope?: string
  /** The audience of session JWTs, or omitted. */
  audience: string[]
  /** Must be omitted: the token is for this API only. */
  resource: string[]
  /** Must be omitted: delegation is not supported. */
  actorToken?: string
  actorTokenType?: string
}

/** ExchangedToken as JSON. */
export type ExchangedTokenJson = {
  access_token: string
  issued_token_type: string
  token_type: 'Bearer'
  /** Lifetime in seconds. */
  expires_in: number
  /** resource.action pairs separated by spaces. */
  scope: string
}

export type RegisterClientRequest = {
  /** Name shown in lists of sessions. */
  clientName?: string
  clientUri?: string
  /** https, http on a loopback address, or a private-use scheme with a dot in its name. No fragment. */
  redirectUris: string[]
  /** Must include urn:ietf:params:oauth:grant-type:token-exchange if given. Only that one is granted. */
  grantTypes: string[]
  /** Ignored: there is no authorization endpoint. */
  responseTypes: string[]
  /** Default: client_secret_basic. A client with none has no secret. A secret is accepted by either method. */
  tokenEndpointAuthMethod?: 'none' | 'client_secret_basic' | 'client_secret_post'
  /** The resource.action pairs that the client may request, separated by spaces. Default: any. */
  scope?: string
}

/** RegisteredClient as JSON. */
export type RegisteredClientJson = {
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

export type ResolveTokenRequest = {
  organizationId: string
  /** The possible stored hashes of the secret, one for each server key: base64url of HMAC-SHA-256. */
  hashes: string[]
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
  /** resource.action pairs, or ["*"] for all of them. */
  permissions: string[]
  readOnly: boolean
  impersonatorId?: string
  /** Until when the answer may be cached, ISO 8601. Absent: without limit. */
  expiresAt?: string
  /** CIDR blocks that the token may be used from. Empty: any. */
  allowedIps: string[]
  /** Whether the organization requires a second factor that the person does not have. */
  secondFactorMissing?: boolean
  /** Origins of web pages that may call the API for the organization. */
  allowedOrigins: string[]
}

/** Feature flags of the organization. A user's own setting overrides that of the role, which overrides the default. */
export type Features = {
  /** Lists features, newest first. Use it to see which features can be switched, and for whom they are on. Honours the shared list parameters. */
  listFeatures: { kind: 'server_stream'; request: ListRequest; response: HttpBody }
  /** Defines a feature. Use it to introduce a feature to some roles or users first. 409 beyond the limit of features per organization, 200 by default. */
  createFeature: { kind: 'unary'; request: CreateFeatureRequest; response: HttpBody }
  /** Returns a feature. Use it for one feature whose id you know. */
  getFeature: { kind: 'unary'; request: IdRequest; response: HttpBody }
  /** Updates a feature. Use it to switch a feature for everyone, or for a role. Requires at least one field. The slug is immutable. */
  updateFeature: { kind: 'unary'; request: UpdateFeatureRequest; response: Updated }
  /** Deletes a feature, with its settings of users and workspaces. Use it when no program asks for the feature any more. */
  deleteFeature: { kind: 'unary'; request: IdRequest; response: HttpBody }
}

/** Feature as JSON. */
export type FeatureJson = {
  _id: string
  id: string
  slug: string
  name: string
  description: string
  /** Value for users whose role and own settings do not set it. */
  default: boolean
  /** Values by role name. */
  roles: Record<string, boolean | null>
  createdBy: ActorJson
  createdAt: string
  updatedAt: string
}

/** The public fields of Feature. */
export const featureFields = {
  'slug': 'string',
  'name': 'string',
  'description': 'string',
  'default': 'boolean',
  'roles': 'object',
  'createdBy': 'object',
  'createdBy.kind': 'string',
  'createdBy.id': 'string',
  'createdBy.name': 'string',
} as const

export type CreateFeatureRequest = {
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

export type UpdateFeatureRequest = {
  id: string
  name?: string
  description?: string
  default?: boolean
  /** Merged into the existing values. null removes one. */
  roles?: Record<string, boolean | null>
}

/** Roles: named sets of permissions, for tokens (kind api) or members (kind user). */
export type Roles = {
  /** Lists roles, built-in ones first. Use it to choose a role for a token or a member. Honours the shared list parameters. */
  listRoles: { kind: 'server_stream'; request: ListRolesRequest; response: HttpBody }
  /** Returns a role. Use it to show or edit the permissions of one role. */
  getRole: { kind: 'unary'; request: IdRequest; response: HttpBody }
  /** Creates a role, or replaces the one with this name. Use it to grant people or tokens exactly what they need. Changed permissions take effect at once for all who have the role. The caller must hold every permission that the role grants, before and after; otherwise 403. With dryRun it changes nothing, and answers what it would change, or the refusal. 409 beyond the limit of roles per organization, 200 by default. */
  saveRole: { kind: 'unary'; request: SaveRoleRequest; response: HttpBody }
  /** Deletes a role. Use it for a role that nobody should have any more. No member may have it, and the caller must hold every permission that it grants. Tokens with the role are refused afterwards. */
  deleteRole: { kind: 'unary'; request: IdRequest; response: HttpBody }
  /** Lists the resources and actions that a role can grant. Use it to draw a matrix of permissions. */
  listPermissions: { kind: 'unary'; request: Empty; response: HttpBody }
}

/** Role as JSON. */
export type RoleJson = {
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

/** The public fields of Role. */
export const roleFields = {
  'name': 'string',
  'kind': 'string',
  'builtIn': 'boolean',
  'permissions': 'object',
  'description': 'string',
  'tokenCount': 'number',
  'memberCount': 'number',
} as const

/** SavedRole as JSON. */
export type SavedRoleJson = {
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
  affected: SavedRoleAffectedJson
  /** Permissions that the role gained and lost, as sorted resource.action pairs. */
  gained: string[]
  lost: string[]
  affectedNames: SavedRoleAffectedNamesJson
  createdAt: string
  updatedAt: string
}

/** The public fields of SavedRole. */
export const savedRoleFields = {
  'name': 'string',
  'kind': 'string',
  'builtIn': 'boolean',
  'permissions': 'object',
  'description': 'string',
  'tokenCount': 'number',
  'memberCount': 'number',
  'affected': 'object',
  'affected.tokens': 'number',
  'affected.members': 'number',
  'gained': 'string[]',
  'lost': 'string[]',
  'affectedNames': 'object',
  'affectedNames.tokens': 'string[]',
  'affectedNames.members': 'string[]',
} as const

/** At most 50 names each. Empty for callers who may not read tokens or users. */
export type SavedRoleAffectedNamesJson = {
  tokens: string[]
  members: string[]
}

/** SavedRoleAffected as JSON. */
export type SavedRoleAffectedJson = {
  tokens: number
  members: number
}

/** Permission as JSON. */
export type PermissionJson = {
  resource: string
  actions: string[]
  description: string
}

export type ListRolesRequest = {
  list?: ListQuery | null
  /** api: roles for tokens; user: roles for members; omitted: both. */
  kind?: 'api' | 'user'
}

export type SaveRoleRequest = {
  name: string
  /** Immutable. */
  kind: 'api' | 'user'
  /** Actions (read, create, update, delete) by resource. */
  permissions: Record<string, unknown>
  description?: string
  /** Only shows what the request would change. The id of a role that does not exist yet is then of no use. */
  dryRun?: boolean
}

/** Settings of the caller's organization. */
export type Settings = {
  /** Returns the settings. Use it to show them, and to format times for the organization. It costs one read by id. */
  getSettings: { kind: 'unary'; request: Empty; response: HttpBody }
  /** Changes settings. Use it to set rules for the whole organization. Requires at least one. They apply from the next request on, sessionHours to new sessions. With requireMfa, people without a second factor get 403 for everything but /api/me and /api/auth until they set one up; API tokens are not affected. It costs one transaction, and clears the organization's cached credentials. */
  updateSettings: { kind: 'unary'; request: UpdateSettingsRequest; response: Updated }
}

/** OrganizationSettings as JSON. */
export type OrganizationSettingsJson = {
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
  defaultTracking: DefaultTrackingJson
}

export type DefaultTracking = {
  opens: boolean
  clicks: boolean
}

/** DefaultTracking as JSON. */
export type DefaultTrackingJson = {
  opens: boolean
  clicks: boolean
}

export type UpdateSettingsRequest = {
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
  defaultTracking?: UpdateSettingsRequestUpdateTracking | null
}

export type UpdateSettingsRequestUpdateTracking = {
  opens?: boolean
  clicks?: boolean
}

/** API tokens: credentials for programs. */
export type Tokens = {
  /** Lists tokens, newest first, without their secrets. Use it to find tokens that are unused or about to expire. Honours the shared list parameters. */
  listTokens: { kind: 'server_stream'; request: ListRequest; response: HttpBody }
  /** Creates a token. Use it for each program, so that each can be revoked alone. Only this answer contains its full value. The role limits routes that require a permission. On routes that only authenticate, any token acts on the senders and workspaces of its creator. A credential limited to a scope cannot create tokens. 409 beyond the limit of tokens per organization, 1,000 by default; deleted tokens do not count. */
  createToken: { kind: 'unary'; request: CreateTokenRequest; response: HttpBody }
  /** Returns a token. Use it to see the role, expiry and last use of one token. */
  getToken: { kind: 'unary'; request: IdRequest; response: HttpBody }
  /** Updates a token. Use it to rename a token, or to switch it off and on again. Requires at least one of name, description, active and archived. Takes effect on the next request. Switching on a token that exceeds the caller's permissions or rank is refused. */
  updateToken: { kind: 'unary'; request: UpdateTokenRequest; response: Updated }
  /** Deletes a token. Use it when a program no longer needs access, or its secret may have leaked. It is refused from the next request on. */
  deleteToken: { kind: 'unary'; request: IdRequest; response: HttpBody }
  /** Lists the permissions that the token has used, most recent first, up to a minute late. Use it to find rights that a token does not need. Routes without a permission do not count. */
  listTokenUsage: { kind: 'server_stream'; request: ListOfRequest; response: HttpBody }
  /** Sets the addresses that the token may be used from; [] allows any. Use it if a program always calls from the same addresses. Other addresses get 403, from the next request on. Refused for a token that exceeds the caller's permissions or rank, and to the token itself. */
  setAllowedIps: { kind: 'unary'; request: SetAllowedIpsRequest; response: Updated }
}

/** Records the use of tokens. Internal: the gateway counts and reports periodically. */
export type TokenUsage = {
  /** Adds to the recorded use, and publishes refused uses. Ignores unknown tokens. */
  recordUsage: { kind: 'unary'; request: RecordUsageRequest; response: Empty }
}

/** Token as JSON. */
export type TokenJson = {
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
  createdBy: ActorJson
  lastUsedAt: string | null
  lastUsedIp: string | null
  /** Addresses and CIDR blocks that it may be used from. Empty: any. */
  allowedIps: string[]
  createdAt: string
  updatedAt: string
}

/** The public fields of Token. */
export const tokenFields = {
  'name': 'string',
  'description': 'string',
  'expiresAt': 'date',
  'role': 'string',
  'active': 'boolean',
  'archived': 'boolean',
  'tokenPreview': 'string',
  'status': 'string',
  'createdBy': 'object',
  'createdBy.kind': 'string',
  'createdBy.id': 'string',
  'createdBy.name': 'string',
  'lastUsedAt': 'date',
  'lastUsedIp': 'string',
  'allowedIps': 'string[]',
} as const

/** CreatedToken as JSON. */
export type CreatedTokenJson = {
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
  createdBy: ActorJson
  lastUsedAt: string | null
  lastUsedIp: string | null
  allowedIps: string[]
  /** The full credential, <orgId>:<secret>. */
  token: string
  createdAt: string
  updatedAt: string
}

/** The public fields of CreatedToken. */
export const createdTokenFields = {
  'name': 'string',
  'description': 'string',
  'expiresAt': 'date',
  'role': 'string',
  'active': 'boolean',
  'archived': 'boolean',
  'tokenPreview': 'string',
  'status': 'string',
  'createdBy': 'object',
  'createdBy.kind': 'string',
  'createdBy.id': 'string',
  'createdBy.name': 'string',
  'lastUsedAt': 'date',
  'lastUsedIp': 'string',
  'allowedIps': 'string[]',
  'token': 'string',
} as const

/** TokenUse as JSON. */
export type TokenUseJson = {
  _id: string
  id: string
  resource: string
  action: 'read' | 'create' | 'update' | 'delete'
  count: number
  lastAt: string
}

/** The public fields of TokenUse. */
export const tokenUseFields = {
  'resource': 'string',
  'action': 'string',
  'count': 'number',
  'lastAt': 'date',
} as const

export type CreateTokenRequest = {
  name: string
  description?: string
  /** A date in the future. */
  expiresAt?: unknown
  /** Name of an API role. If omitted, the token has its creator's permissions. */
  role?: string
}

export type UpdateTokenRequest = {
  id: string
  name?: string
  description?: string
  active?: boolean
  archived?: boolean
}

export type SetAllowedIpsRequest = {
  id: string
  /** IPv4 or IPv6 addresses, or blocks such as 192.0.2.0/24 and 2001:db8::/32. */
  cidrs: string[]
}

export type RecordUsageRequest = {
  tokens: RecordUsageRequestUsedToken[]
  /** Uses from addresses that the token does not allow. */
  refused: RecordUsageRequestRefusedToken[]
}

export type RecordUsageRequestUsedToken = {
  organizationId: string
  tokenId: string
  /** Milliseconds since the epoch. */
  lastUsedAt: number
  lastUsedIp: string
  uses: RecordUsageRequestUse[]
}

export type RecordUsageRequestUse = {
  resource: string
  action: string
  count: number
  /** Milliseconds since the epoch. */
  lastAt: number
}

export type RecordUsageRequestRefusedToken = {
  organizationId: string
  tokenId: string
  /** Milliseconds since the epoch. */
  refusedAt: number
  ip: string
  requestId: string
}

/** Workspaces: groups of users with roles. The role in the workspace decides what a member may do: owner and admin manage, user reads, and a custom role grants its actions on workspaces. A token has its creator's role in it. Owners and admins of the organization may do everything. To everyone else the workspace does not exist (404). */
export type Workspaces = {
  /** Lists the caller's workspaces, newest first. Use it to show the groups that a person belongs to. With workspaces.read, lists all of the organization. */
  listWorkspaces: { kind: 'server_stream'; request: ListRequest; response: HttpBody }
  /** Creates a workspace. Use it to group users of the organization around one job. The caller, or the token's creator, becomes its owner and first member, and takes a seat. 409 beyond the limit of workspaces per organization, 1,000 by default. */
  createWorkspace: { kind: 'unary'; request: CreateWorkspaceRequest; response: HttpBody }
  /** Returns a workspace. Use it for the name and the seats of one workspace. */
  getWorkspace: { kind: 'unary'; request: IdRequest; response: HttpBody }
  /** Updates a workspace. Use it to rename a workspace or to change its number of seats. Requires at least one field. */
  updateWorkspace: { kind: 'unary'; request: UpdateWorkspaceRequest; response: Updated }
  /** Deletes a workspace with its memberships and invitations. Use it when a group has ended. User accounts are kept. */
  deleteWorkspace: { kind: 'unary'; request: IdRequest; response: HttpBody }
}

/** Members of a workspace. */
export type Members = {
  /** Lists the members, newest first. Use it to see who is in a workspace, and with which role. populate=user includes their accounts. */
  listWorkspaceMembers: { kind: 'server_stream'; request: ListOfRequest; response: HttpBody }
  /** Adds an account of the organization by its email. Use it for people who have an account; invite the others. Uses up a pending invitation for it. 403 without a free seat. */
  addMember: { kind: 'unary'; request: AddMemberRequest; response: HttpBody }
  /** Changes a member's role. Use it to give a member more or fewer rights in this workspace. Only an owner may make or change an owner. Not allowed for the last owner. */
  updateMember: { kind: 'unary'; request: UpdateMemberRequest; response: Updated }
  /** Removes a member and frees the seat. Use it when a person leaves the group. Only an owner may remove an owner. Not allowed for the last owner. The account and contacts are kept, the invitations that the member sent are revoked. */
  removeMember: { kind: 'unary'; request: MemberRequest; response: HttpBody }
}

/** Invitations to a workspace. */
export type Invitations = {
  /** Lists the invitations, newest first. Use it to see who has not answered yet. */
  listInvitations: { kind: 'server_stream'; request: ListOfRequest; response: HttpBody }
  /** Mails an invitation. Use it to bring in people without an account, or to ask before adding them. It is valid for seven days and takes a seat while pending; 403 without a free one. If the address has no account, the caller must hold users.create and every permission of the built-in role user, since accepting creates the account; otherwise 403. The answer and the mail contain different links: only the mailed one verifies the email address. 409 beyond the limit of pending invitations per organization, 1,000 by default. */
  createInvitation: { kind: 'unary'; request: CreateInvitationRequest; response: HttpBody }
  /** Revokes a pending invitation. Use it if the address was wrong or the person is no longer wanted. Allowed for its sender only, by session or token. */
  revokeInvitation: { kind: 'unary'; request: InvitationRequest; response: HttpBody }
  /** Returns what a pending invitation offers, for the page that asks to accept it. Use it to show a person what they are asked to join. Anyone with the link may call it, and learns whether its address has an account. It costs five reads. 404 for an unknown, answered or expired one alike. */
  previewInvitation: { kind: 'unary'; request: InvitationTokenRequest; response: HttpBody }
  /** Accepts an invitation, once. Use it on the page that the invitation opens. If the organization has no account with the address, creates one with name and password; its email is verified if the link is the mailed one. If it has one, name and password are ignored, and the link must be the mailed one or the request must come from a session of the account; otherwise 401. Without such a session, the mailed link proves the mailbox: it verifies the email and ends the sessions and the password of an account that was not verified. */
  acceptInvitation: { kind: 'unary'; request: AcceptInvitationRequest; response: HttpBody }
  /** Declines an invitation and frees its seat. Use it on the page that the invitation opens. */
  declineInvitation: { kind: 'unary'; request: InvitationTokenRequest; response: Updated }
}

/** Workspace as JSON. */
export type WorkspaceJson = {
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
  createdBy: ActorJson
  createdAt: string
  updatedAt: string
}

/** The public fields of Workspace. */
export const workspaceFields = {
  'name': 'string',
  'image': 'string',
  'seats': 'number',
  'features': 'object',
  'memberCount': 'number',
  'createdBy': 'object',
  'createdBy.kind': 'string',
  'createdBy.id': 'string',
  'createdBy.name': 'string',
} as const

/** WorkspaceSummary as JSON. */
export type WorkspaceSummaryJson = {
  _id: string
  name: string
  image: string | null
}

/** UserSummary as JSON. */
export type UserSummaryJson = {
  _id: string
  name: string
}

/** Member as JSON. */
export type MemberJson = {
  _id: string
  id: string
  /** Id of the account; null if it was deleted. populate=user includes name, email and image. */
  user: string | null
  role: string
  joinedAt: string
  createdAt: string
  updatedAt: string
}

/** The public fields of Member. */
export const memberFields = {
  'user': 'objectId',
  'role': 'string',
  'joinedAt': 'date',
} as const

/** Invitation as JSON. */
export type InvitationJson = {
  _id: string
  id: string
  email: string
  role: string
  status: 'pending' | 'accepted' | 'declined' | 'expired'
  expiresAt: string
  createdBy: ActorJson
  createdAt: string
  updatedAt: string
}

/** The public fields of Invitation. */
export const invitationFields = {
  'email': 'string',
  'role': 'string',
  'status': 'string',
  'expiresAt': 'date',
  'createdBy': 'object',
  'createdBy.kind': 'string',
  'createdBy.id': 'string',
  'createdBy.name': 'string',
} as const

/** CreatedInvitation as JSON. */
export type CreatedInvitationJson = {
  _id: string
  id: string
  email: string
  role: string
  status: 'pending' | 'accepted' | 'declined' | 'expired'
  expiresAt: string
  createdBy: ActorJson
  /** Link to accept or decline the invitation. Ends in a secret that differs from the mailed one. */
  acceptUrl: string
  createdAt: string
  updatedAt: string
}

/** The public fields of CreatedInvitation. */
export const createdInvitationFields = {
  'email': 'string',
  'role': 'string',
  'status': 'string',
  'expiresAt': 'date',
  'createdBy': 'object',
  'createdBy.kind': 'string',
  'createdBy.id': 'string',
  'createdBy.name': 'string',
  'acceptUrl': 'string',
} as const

/** InvitationPreview as JSON. */
export type InvitationPreviewJson = {
  workspace: WorkspaceSummaryJson
  email: string
  role: string
  invitedBy: InvitationPreviewInviterJson
  expiresAt: string
  /** Whether the organization has an account with the address. If not, accepting creates one. */
  hasAccount: boolean
}

/** InvitationPreviewInviter as JSON. */
export type InvitationPreviewInviterJson = {
  name: string
}

/** AcceptedInvitation as JSON. */
export type AcceptedInvitationJson = {
  workspace: WorkspaceSummaryJson
  /** Role in the workspace. */
  role: string
  user: UserSummaryJson
}

export type CreateWorkspaceRequest = {
  name: string
  image?: string
  /** An integer of at least 1, or null (the default) for unlimited. */
  seats?: unknown
  /** true or false by feature slug. */
  features?: Record<string, boolean | null>
}

export type UpdateWorkspaceRequest = {
  id: string
  name?: string
  image?: string
  /** An integer of at least 1 and not below the seats taken, or null for unlimited. */
  seats?: unknown
  /** Merged into the existing settings. null removes one. */
  features?: Record<string, boolean | null>
}

export type AddMemberRequest = {
  id: string
  /** Email of an account of the organization. */
  email: string
  /** A built-in role or one of kind user. Must not exceed the caller's role in the workspace. */
  role: string
}

export type UpdateMemberRequest = {
  id: string
  /** Id of the account or of the membership. */
  userId: string
  role: string
}

export type MemberRequest = {
  id: string
  /** Id of the account or of the membership. */
  userId: string
}

export type CreateInvitationRequest = {
  id: string
  email: string
  /** A built-in role or one of kind user. Must not exceed the caller's role in the workspace. */
  role: string
}

export type InvitationRequest = {
  id: string
  invitationId: string
}

export type AcceptInvitationRequest = {
  /** Secret from the link. */
  token: string
  name?: string
  /** 8 to 200 characters, not one of the most common passwords. */
  password?: string
}

export type InvitationTokenRequest = {
  /** Secret from the link. */
  token: string
}

/** The caller's own account. No permission is required. An API token can only read it, an impersonation too. These routes count against the global limit only. */
export type Account = {
  /** Returns the caller like GET /api/auth/me. Use it to greet the caller, and to show only what their permissions allow. Any credential may call it. It costs two reads by id. */
  getAccount: { kind: 'unary'; request: Empty; response: HttpBody }
  /** Updates the own profile. Use it for a page on which people edit their own name, picture, language and time zone. Requires at least one field. For sessions only. It costs one transaction. */
  updateAccount: { kind: 'unary'; request: UpdateAccountRequest; response: Updated }
  /** Changes the own password and ends every other session. Use it for people who know their password; the others reset it. API tokens stay active. For sessions only. It costs two password hashes. Wrong passwords count as failed sign-ins (see login), so a stolen session cannot guess the password: while the account is locked, every attempt gets the same 400. */
  changePassword: { kind: 'unary'; request: ChangePasswordRequest; response: Updated }
  /** Mails a link to a new email address, which replaces the present one when POST /api/auth/email/verify is called with the link's token. Use it when a person has a new address. The link is valid once, for 24 hours; a new request replaces it, and a new password or second factor voids it. Wrong passwords count as failed sign-ins (see login). For sessions only. It costs a password hash and a mail; 429 beyond five requests a day, or the limit of mails per address and day. In an organization that is not verified, only its registered owner may have another address. */
  changeEmail: { kind: 'unary'; request: ChangeEmailRequest; response: Updated }
  /** Begins to set up a second factor with an authenticator app (TOTP, RFC 6238: 30 seconds, 6 digits). Use it to show the QR code. Returns a new secret in place of one that was not confirmed. It takes effect with totp/confirm, within 15 minutes. For sessions only. It costs two reads and a write. */
  startTotp: { kind: 'unary'; request: Empty; response: HttpBody }
  /** Turns the second factor on with a code of the new secret. Use it when the app shows its first code. Only this answer contains the ten recovery codes, each of which replaces a code once. Signing in then needs the second factor. Every other session ends; API tokens stay active. For sessions only. It costs one transaction. */
  confirmTotp: { kind: 'unary'; request: ConfirmTotpRequest; response: HttpBody }
  /** Turns the second factor off, and deletes the recovery codes. Use it before a change of phones. Refused while the organization requires a second factor. Wrong passwords and codes count as failed sign-ins (see login). For sessions only. It costs a password hash and a transaction. */
  removeTotp: { kind: 'unary'; request: RemoveTotpRequest; response: Updated }
  /** Replaces the recovery codes by ten new ones, which only this answer contains. Use it when few are left, or somebody may have seen them. Wrong passwords and codes count as failed sign-ins (see login). For sessions only. It costs a password hash and a transaction. */
  renewRecoveryCodes: { kind: 'unary'; request: RenewRecoveryCodesRequest; response: HttpBody }
  /** Lists the own active sessions, latest sign-in first. Use it to let people check where they are signed in. For sessions only. It costs one query of the account's sessions. */
  listOwnSessions: { kind: 'server_stream'; request: ListRequest; response: HttpBody }
  /** Ends one of the own sessions at once. Use it to sign out of a machine that is out of reach. For sessions only. It costs one transaction. */
  revokeOwnSession: { kind: 'unary'; request: RevokeOwnSessionRequest; response: HttpBody }
  /** Ends all own sessions but this one at once, including those exchanged for a client and impersonations of the account. Use it when someone else may have signed in. For sessions only. It costs one transaction with an event per session. */
  revokeOtherSessions: { kind: 'unary'; request: Empty; response: EndedSessions }
  /** Lists the devices that the caller signed in from in the last year, latest sign-in first. Use it to let people recognize a sign-in that was not theirs. For sessions only. It costs one query of the account's devices. */
  listOwnDevices: { kind: 'server_stream'; request: ListRequest; response: HttpBody }
  /** Removes one of the own devices and ends its sessions at once. Use it for a device that was lost or sold. For sessions only. It costs one transaction with an event per session. */
  revokeOwnDevice: { kind: 'unary'; request: RevokeOwnDeviceRequest; response: HttpBody }
}

export type UpdateAccountRequest = {
  name?: string
  image?: string
  /** ISO 3166-1, such as DE. */
  country?: string
  /** IANA, such as Europe/Berlin. */
  timezone?: string
  /** BCP 47, such as de-DE. */
  language?: string
  /** ISO 4217. */
  currency?: string
}

export type ChangePasswordRequest = {
  currentPassword: string
  /** 8 to 200 characters, not one of the most common passwords. */
  newPassword: string
}

export type ChangeEmailRequest = {
  email: string
  password: string
}

/** TotpSetup as JSON. */
export type TotpSetupJson = {
  /** Base32, to type into an authenticator app. */
  secret: string
  /** The same as otpauth:// URI, to show as a QR code. */
  uri: string
}

export type ConfirmTotpRequest = {
  /** The six digits that the authenticator app shows. */
  code: string
}

/** RecoveryCodes as JSON. */
export type RecoveryCodesJson = {
  recoveryCodes: string[]
}

export type RemoveTotpRequest = {
  password: string
  /** A code of the authenticator app, or a recovery code. */
  code: string
}

export type RenewRecoveryCodesRequest = {
  password: string
  /** A code of the authenticator app, or a recovery code. */
  code: string
}

export type RevokeOwnSessionRequest = {
  sessionRef: string
}

export type RevokeOwnDeviceRequest = {
  deviceId: string
}

export type EndedSessions = {
  /** Number of own sessions that were ended. */
  ended: number
}

/** Accounts of the caller's organization. Internal: for services that refer to users. */
export type Directory = {
  /** Returns the accounts with these ids, in no order. Omits ids that are unknown or of another organization. */
  findUsers: { kind: 'unary'; request: FindUsersRequest; response: FindUsersResponse }
}

/** The caller's organization. Internal: for services that act for it. */
export type Organizations = {
  findOrganization: { kind: 'unary'; request: FindOrganizationRequest; response: FindOrganizationResponse }
}

/** Origins of web pages. Internal: for the answer to a preflight request, which has no credential. */
export type Origins = {
  /** Returns whether any organization allows an origin. */
  checkOrigin: { kind: 'unary'; request: CheckOriginRequest; response: CheckOriginResponse }
}

export type CheckOriginRequest = {
  origin: string
}

export type CheckOriginResponse = {
  allowed: boolean
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

export type FindOrganizationRequest = {
}

export type FindOrganizationResponse = {
  id: string
  name: string
  /** False after open registration until the owner verifies their email address. Until then its mail may only go to the owners. */
  verified: boolean
  ownerEmails: string[]
  /** What mail counts unless it says otherwise. */
  defaultTracking?: DefaultTracking | null
}

/** User accounts of the organization. Owners rank above admins, admins above everyone else. Changing an account of a higher rank, or granting a higher rank, is 403. */
export type Users = {
  /** Lists users, newest first. Use it to find accounts by name, role or state. Honours the shared list parameters. */
  listUsers: { kind: 'server_stream'; request: ListRequest; response: HttpBody }
  /** Returns a user. Use it for one account whose id you know. */
  getUser: { kind: 'unary'; request: IdRequest; response: HttpBody }
  /** Creates an account. Use it to give a colleague access to the whole organization; invite guests to a workspace. Without a password, the user gets a mail to set one. Passwords are hashed one at a time: 429 while two others of the organization, or from the caller's address, are waiting. 409 beyond the limit of accounts per organization, 10,000 by default. */
  createUser: { kind: 'unary'; request: CreateUserRequest; response: HttpBody }
  /** Updates the profile. Use it to correct a colleague's profile. Requires at least one field. Not allowed for an account of a higher rank. */
  updateUser: { kind: 'unary'; request: UpdateUserRequest; response: Updated }
  /** Replaces the user's tags; [] clears them. Use it to group accounts for your own purposes. */
  replaceUserTags: { kind: 'unary'; request: ReplaceUserTagsRequest; response: Updated }
  /** Turns the second factor of a user off, and ends all sessions of the user, who gets a notice by mail. Use it when somebody has lost the phone and the recovery codes. Not allowed for oneself, or for a user of higher rank. */
  resetUserTotp: { kind: 'unary'; request: IdRequest; response: Updated }
  /** Blocks the user: all sessions end at once, sign-in is refused, and the invitations that the user sent are revoked. Use it to stop access at once without losing the account. Not allowed for oneself or the last owner. */
  blockUser: { kind: 'unary'; request: IdRequest; response: Updated }
  /** Unblocks the user. Use it to let a blocked user sign in again. Ended sessions are not restored. */
  unblockUser: { kind: 'unary'; request: IdRequest; response: Updated }
  /** Changes the organization-level role, with effect at once. Use it when a person's job changes. The new role must not exceed the caller's permissions or rank. Not allowed for the last owner. */
  changeRole: { kind: 'unary'; request: ChangeRoleRequest; response: Updated }
  /** Deletes the account permanently: its sessions end, its tokens are refused, the invitations that it sent are revoked. Use it when a person has left for good; block the account if you are not sure. Contacts are kept. Not allowed for oneself or the last owner. */
  deleteUser: { kind: 'unary'; request: IdRequest; response: HttpBody }
  /** Lists the user's active sessions. Use it to see where a user is signed in right now. */
  listUserSessions: { kind: 'server_stream'; request: ListOfRequest; response: HttpBody }
  /** Lists the devices that the user signed in from in the last year. Use it to look into a suspicious sign-in. */
  listUserDevices: { kind: 'server_stream'; request: ListOfRequest; response: HttpBody }
  /** Lists the user's sign-ins and changes, and impersonations of the user, newest first. Use it to audit what happened to an account. */
  listUserActivities: { kind: 'server_stream'; request: ListOfRequest; response: HttpBody }
  /** Lists the workspaces that the user is a member of, newest first. Use it before an account is deleted, or to review access. */
  listUserWorkspaces: { kind: 'server_stream'; request: ListOfRequest; response: HttpBody }
  /** Returns the user's effective feature flags. Use it in programs that switch their functions by user. The user's own setting overrides that of the role, which overrides the default. */
  getUserFeatures: { kind: 'unary'; request: IdRequest; response: HttpBody }
  /** Switches features on or off for this user. Use it to try a feature with a few people. null removes the user's own setting. Other features are unchanged. */
  setUserFeatures: { kind: 'unary'; request: SetUserFeaturesRequest; response: Updated }
  /** Lists emails that were sent to the user's address, newest first. Use it when a user says that a mail did not arrive. */
  listUserEmails: { kind: 'server_stream'; request: ListOfRequest; response: HttpBody }
  /** Ends a session at once. Use it to sign a user out in one place. */
  revokeUserSession: { kind: 'unary'; request: RevokeUserSessionRequest; response: HttpBody }
  /** Removes a device and ends its sessions at once. Use it when a user's device was lost. */
  revokeUserDevice: { kind: 'unary'; request: RevokeUserDeviceRequest; response: HttpBody }
}

/** Session as JSON. */
export type SessionJson = {
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

/** The public fields of Session. */
export const sessionFields = {
  'sessionRef': 'objectId',
  'device': 'string',
  'ip': 'string',
  'userAgent': 'string',
  'lastActiveAt': 'date',
  'expiresAt': 'date',
  'current': 'boolean',
  'impersonatedBy': 'objectId',
} as const

/** Device as JSON. */
export type DeviceJson = {
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

/** The public fields of Device. */
export const deviceFields = {
  'deviceId': 'objectId',
  'name': 'string',
  'browser': 'string',
  'os': 'string',
  'type': 'string',
  'lastIp': 'string',
  'firstSeenAt': 'date',
  'lastSeenAt': 'date',
  'current': 'boolean',
} as const

/** Activity as JSON. */
export type ActivityJson = {
  _id: string
  id: string
  /** Type of the event, such as session.created, token.created or user.blocked; or user.permissions_changed, token.permissions_changed. */
  type: string
  at: string
  /** The user, the token that acted for the user, or the impersonator. */
  actor: ActorJson
  data: Record<string, unknown>
}

/** The public fields of Activity. */
export const activityFields = {
  'type': 'string',
  'at': 'date',
  'actor': 'object',
  'actor.kind': 'string',
  'actor.id': 'string',
  'actor.name': 'string',
  'data': 'object',
} as const

/** UserWorkspace as JSON. */
export type UserWorkspaceJson = {
  _id: string
  id: string
  workspace: WorkspaceSummaryJson
  /** Role in the workspace. */
  role: string
  joinedAt: string
}

/** The public fields of UserWorkspace. */
export const userWorkspaceFields = {
  'workspace': 'object',
  'workspace._id': 'objectId',
  'workspace.name': 'string',
  'workspace.image': 'string',
  'role': 'string',
  'joinedAt': 'date',
} as const

/** UserEmail as JSON. */
export type UserEmailJson = {
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

/** The public fields of UserEmail. */
export const userEmailFields = {
  'subject': 'string',
  'sender': 'string',
  'status': 'string',
  'sentAt': 'date',
  'error': 'string',
} as const

/** Effective value, true or false, of every feature of the organization by slug. */
export type ResolvedFeaturesJson = {
}

export type CreateUserRequest = {
  name: string
  email: string
  password?: string
  /** A built-in role or one of kind user. Default: user. */
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
  /** Up to 50 scalar values, merged into the existing ones. null removes one. Names consist of letters, digits, _ and -. Texts have at most 1000 characters. */
  attributes?: Record<string, string | number | boolean | null>
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

export type SetUserFeaturesRequest = {
  id: string
  /** true, false or null by feature slug. */
  features: Record<string, boolean | null>
}
