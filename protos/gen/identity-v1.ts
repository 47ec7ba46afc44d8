// Generated from the protos by `npm run generate`. Do not edit.

import type { HttpBody } from './api.ts'
import type { Actor, ActorJson, Empty, IdRequest, ListOfRequest, ListQuery, ListRequest, Updated } from './types.ts'
/** Signing in and out, and who the caller is. */
export type Authentication = {
  /** Makes an organization and its owner, and signs the owner in. Open only where the operator opened it. Until the owner proves the mailbox, by a code or by the link of a mail, the organization's mail reaches the owner alone, and any other account of the address comes first. The first proof ends what the account had until then: password, sessions and API tokens. */
  register: { kind: 'unary'; request: RegisterRequest; response: HttpBody }
  /** Signs in with email and password. Sets the HttpOnly cookie auth_token as well; by https as __Host-auth_token. An account takes 10 failures within 15 minutes, of passwords and codes together; then the same 401 is answered without looking, for a minute, and after each further failure for twice as long, up to an hour. Signing in, or a new password by the link of a mail, ends that. */
  login: { kind: 'unary'; request: LoginRequest; response: HttpBody }
  /** Ends the caller's session. */
  logout: { kind: 'unary'; request: Empty; response: Updated }
  /** Mails whoever has an account of this email how to set a new password. The answer is the same where nobody has. */
  forgotPassword: { kind: 'unary'; request: ForgotPasswordRequest; response: Updated }
  /** Sets the password of the account that the mailed token is for, once, which also proves the mailbox. Every session of the account ends, and every one that was exchanged for one of them or for an API token. The API tokens themselves stay active unless deactivateTokens says otherwise. */
  resetPassword: { kind: 'unary'; request: ResetPasswordRequest; response: Updated }
  /** Mails a sign-in code to the accounts of this email: six digits, good once, for 10 minutes and 5 tries. It belongs to the requestId of the answer; requests by others leave it valid. An address gets 5 codes an hour and 20 a day. The answer is the same beyond that, and where nobody has an account. */
  requestOtp: { kind: 'unary'; request: RequestOtpRequest; response: RequestOtpResponse }
  /** Signs in with the code of the mail, which also proves the mailbox. At the first proof the password and the other sessions of the account end, since somebody else may have made it; so do those of other accounts of the address whose mailbox was never proven. Sets the HttpOnly cookie auth_token as well; by https as __Host-auth_token. With its requestId a code also works while the account takes no passwords (see login); after 30 wrong codes within a day an address takes no more of them. */
  verifyOtp: { kind: 'unary'; request: VerifyOtpRequest; response: HttpBody }
  /** Acts as another user, read-only, for 30 minutes: any method but GET, HEAD and OPTIONS gets 403. For owners and admins only, and tokens that authorize as one; no role can grant it. An admin may act as anyone but an owner, nobody as themselves or as a blocked account. It is one of the user's sessions and can be ended there; it ends at once with the credential that asked for it, and when its bearer is blocked, deleted or given another role. */
  impersonate: { kind: 'unary'; request: ImpersonateRequest; response: HttpBody }
  /** Trades a session JWT or an API token for a JWT of at most an hour, limited to a scope: token exchange (RFC 8693). For registered clients. Errors, 401 included, are of the form of RFC 6749, {error, error_description}: this route and /api/auth/clients are the only ones whose errors have none of the three shapes. The JWT is good for as long as the credential it was made from, and is shown among the sessions of its user under the client's name. A JWT that was itself exchanged, or is an impersonation, is not traded again; delegation (actor_token) is not supported; tokens are issued for this API only. */
  exchangeToken: { kind: 'unary'; request: ExchangeTokenRequest; response: HttpBody }
  /** Registers a client for token exchange (RFC 7591). The answer is the only place that holds its secret. A client that is not used within a day, or for 90 days, is forgotten. Metadata that is not listed here is ignored. Errors are of the form of RFC 7591, {error, error_description}. */
  registerClient: { kind: 'unary'; request: RegisterClientRequest; response: HttpBody }
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
  attributes: Record<string, unknown>
  country: string
  timezone: string
  language: string
  currency: string
  lastLoginAt: string
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
} as const

export type Organization = {
  name: string
}

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

export type SignIn = {
  /** The session JWT. */
  token: string
  expiresAt: string
  user?: User | null
}

/** SignIn as JSON. */
export type SignInJson = {
  /** The session JWT. */
  token: string
  expiresAt: string
  user: UserJson
}

export type Registration = {
  /** The session JWT. */
  token: string
  expiresAt: string
  user?: User | null
  organization?: Organization | null
}

/** Registration as JSON. */
export type RegistrationJson = {
  /** The session JWT. */
  token: string
  expiresAt: string
  user: UserJson
  organization: OrganizationJson
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
  name: string
}

/** Me as JSON. */
export type MeJson = {
  kind: 'session' | 'token'
  /** The user, or the token's creator. */
  user: UserJson
  organization: OrganizationJson
  role: string
  /** resource.action pairs; "*" stands for all of them. */
  permissions: string[]
  /** The token in use. */
  token?: MeTokenInUseJson
  /** Id of the person behind a read-only impersonation. */
  impersonatedBy?: string
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
  /** Name of the organization; the person's own where it is not given. */
  organization?: string
}

export type LoginRequest = {
  email: string
  password: string
  /** Needed where email and password fit accounts of several organizations, or the email has more than four. */
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
  /** 8 to 200 characters, not one of the most common passwords. */
  password: string
  /** Also deactivates the API tokens that the account made: for when somebody else may know them. The mail says how many. */
  deactivateTokens?: boolean
}

export type RequestOtpRequest = {
  email: string
  /** Only the account of this organization. */
  orgId?: string
}

export type RequestOtpResponse = {
  success: boolean
  message: string
  /** What the code belongs to: keep it, and send it with the code. */
  requestId: string
}

export type VerifyOtpRequest = {
  email: string
  /** The six digits of the mail. */
  code: string
  /** Needed where the email has accounts in several organizations. */
  orgId?: string
  /** Of the answer to otp/request. Needed where several requests for the email are open. */
  requestId?: string
}

export type ImpersonateRequest = {
  userId: string
}

export type ExchangeTokenRequest = {
  /** urn:ietf:params:oauth:grant-type:token-exchange */
  grantType: string
  /** Or by Authorization: Basic. */
  clientId?: string
  clientSecret?: string
  /** The session JWT or API token to trade; it has to be there. */
  subjectToken?: string
  /** urn:ietf:params:oauth:token-type:access_token, or ...:jwt for a session JWT; it has to be there. */
  subjectTokenType?: string
  /** urn:ietf:params:oauth:token-type:access_token (the default) or ...:jwt. */
  requestedTokenType?: string
  /** resource.action pairs separated by spaces, of those that the subject has; all of them where it is not given. */
  scope?: string
  /** The audience of session JWTs, or none. */
  audience: string[]
  /** None: this API is the one place that the token is for. */
  resource: string[]
  /** Refused: delegation is not supported. */
  actorToken?: string
  actorTokenType?: string
}

export type ExchangedToken = {
  accessToken: string
  issuedTokenType: string
  tokenType: 'Bearer'
  /** Seconds. */
  expiresIn: number
  /** resource.action pairs separated by spaces. */
  scope: string
}

/** ExchangedToken as JSON. */
export type ExchangedTokenJson = {
  access_token: string
  issued_token_type: string
  token_type: 'Bearer'
  /** Seconds. */
  expires_in: number
  /** resource.action pairs separated by spaces. */
  scope: string
}

export type RegisterClientRequest = {
  /** What people see in lists of sessions. */
  clientName?: string
  clientUri?: string
  /** https, http on a loopback address, or a private-use scheme with a dot in its name; without a fragment. */
  redirectUris: string[]
  /** Has to hold urn:ietf:params:oauth:grant-type:token-exchange where it is given; that is the one it gets. */
  grantTypes: string[]
  /** None is issued: there is no authorization endpoint. */
  responseTypes: string[]
  /** client_secret_basic where it is not given. A client of none has no secret; a secret is taken either way. */
  tokenEndpointAuthMethod?: 'none' | 'client_secret_basic' | 'client_secret_post'
  /** The resource.action pairs that it may ask for at most, separated by spaces; any where it is not given. */
  scope?: string
}

export type RegisteredClient = {
  clientId: string
  clientSecret?: string
  /** Seconds since 1970. */
  clientIdIssuedAt: number
  /** 0: it lasts as long as the client. */
  clientSecretExpiresAt?: number
  clientName?: string
  clientUri?: string
  redirectUris: string[]
  grantTypes: string[]
  responseTypes: string[]
  tokenEndpointAuthMethod: string
  scope?: string
}

/** RegisteredClient as JSON. */
export type RegisteredClientJson = {
  client_id: string
  client_secret?: string
  /** Seconds since 1970. */
  client_id_issued_at: number
  /** 0: it lasts as long as the client. */
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
  /** Every hash that may be stored of the secret, one for each server key; base64url of HMAC-SHA-256. */
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
  /** resource.action pairs; ["*"] is all of them. */
  permissions: string[]
  readOnly: boolean
  impersonatorId?: string
  /** Until when the answer may be remembered, ISO 8601; absent: for as long as one likes. */
  expiresAt?: string
  /** CIDR blocks the token may come from; none: any. */
  allowedIps: string[]
}

/** Feature flags of the organization. For a person, the default holds, then what the role says, then the person's own. */
export type Features = {
  /** Lists features, newest first. Honours the shared list parameters. */
  listFeatures: { kind: 'server_stream'; request: ListRequest; response: HttpBody }
  /** Defines a feature. 409 beyond the limit of features per organization, 200 by default. */
  createFeature: { kind: 'unary'; request: CreateFeatureRequest; response: HttpBody }
  /** One feature. */
  getFeature: { kind: 'unary'; request: IdRequest; response: HttpBody }
  /** Updates a feature: at least one field. The slug is immutable. */
  updateFeature: { kind: 'unary'; request: UpdateFeatureRequest; response: Updated }
  /** Deletes a feature, with what users and workspaces had switched of it. */
  deleteFeature: { kind: 'unary'; request: IdRequest; response: HttpBody }
}

export type Feature = {
  slug: string
  name: string
  description: string
  /** For whom neither the role nor their own setting says otherwise. */
  default: boolean
  /** For whoever has the role, by its name. */
  roles: Record<string, boolean | null>
  createdBy?: Actor | null
}

/** Feature as JSON. */
export type FeatureJson = {
  _id: string
  id: string
  slug: string
  name: string
  description: string
  /** For whom neither the role nor their own setting says otherwise. */
  default: boolean
  /** For whoever has the role, by its name. */
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
  /** Lower-case letters, digits, _ and -, beginning with a letter; at most 40. Unique, and immutable. */
  slug: string
  /** The slug where it is not given. */
  name?: string
  description?: string
  /** false where it is not given. */
  default?: boolean
  /** true or false by the name of a role that members may have. */
  roles?: Record<string, boolean | null>
}

export type UpdateFeatureRequest = {
  id: string
  name?: string
  description?: string
  default?: boolean
  /** Merged into those there are; null removes one. */
  roles?: Record<string, boolean | null>
}

/** Roles: named sets of permissions, for tokens (kind api) or members (kind user). */
export type Roles = {
  /** Lists roles, built-in ones first. Honours the shared list parameters. */
  listRoles: { kind: 'server_stream'; request: ListRolesRequest; response: HttpBody }
  /** Creates a role or saves the one of this name. Its permissions change for everyone who carries it at once. All that it grants, before and after, has to be the caller's own, otherwise 403. 409 beyond the limit of roles per organization, 200 by default. */
  saveRole: { kind: 'unary'; request: SaveRoleRequest; response: HttpBody }
  /** Deletes a role that no member carries and that grants nothing beyond the caller's own; tokens on it are refused from then on. */
  deleteRole: { kind: 'unary'; request: IdRequest; response: HttpBody }
  /** The catalogue of resources and actions that a role can grant. */
  listPermissions: { kind: 'unary'; request: Empty; response: HttpBody }
}

export type Role = {
  name: string
  kind: 'api' | 'user' | 'both'
  builtIn: boolean
  /** Actions by resource. */
  permissions: Record<string, unknown>
  description: string
  tokenCount: number
  memberCount: number
}

/** Role as JSON. */
export type RoleJson = {
  _id: string
  id: string
  name: string
  kind: 'api' | 'user' | 'both'
  builtIn: boolean
  /** Actions by resource. */
  permissions: Record<string, unknown>
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

export type SavedRole = {
  name: string
  kind: 'api' | 'user'
  builtIn: boolean
  permissions: Record<string, unknown>
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

/** SavedRole as JSON. */
export type SavedRoleJson = {
  _id: string
  id: string
  name: string
  kind: 'api' | 'user'
  builtIn: boolean
  permissions: Record<string, unknown>
  description: string
  tokenCount: number
  memberCount: number
  /** Tokens and members whose permissions this save changed. */
  affected: SavedRoleAffectedJson
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
} as const

/** SavedRoleAffected as JSON. */
export type SavedRoleAffectedJson = {
  tokens: number
  members: number
}

export type Permission = {
  resource: string
  actions: string[]
  description: string
}

/** Permission as JSON. */
export type PermissionJson = {
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
  permissions: Record<string, unknown>
  description?: string
}

/** API tokens: credentials of programs. */
export type Tokens = {
  /** Lists tokens, newest first; never their secrets. Honours the shared list parameters. */
  listTokens: { kind: 'server_stream'; request: ListRequest; response: HttpBody }
  /** Creates a token. Its full value is in this answer and nowhere else. The role limits routes that need a permission; on routes that only authenticate, even the narrowest token acts on the senders and workspaces of its creator. A credential limited to a scope cannot create tokens. 409 beyond the limit of tokens per organization, 1,000 by default; deleting one makes room. */
  createToken: { kind: 'unary'; request: CreateTokenRequest; response: HttpBody }
  /** One token. */
  getToken: { kind: 'unary'; request: IdRequest; response: HttpBody }
  /** Updates name, description, active or archived: at least one. Takes effect on the very next request. */
  updateToken: { kind: 'unary'; request: UpdateTokenRequest; response: Updated }
  /** Deletes the token: it is refused from the very next request. */
  deleteToken: { kind: 'unary'; request: IdRequest; response: HttpBody }
  /** What the token was really used for, the latest use first; at most a minute late. Routes without a permission do not count. */
  listTokenUsage: { kind: 'server_stream'; request: ListOfRequest; response: HttpBody }
  /** Says which addresses the token may be used from; [] is any. From another one it gets 403, from the very next request on. */
  setAllowedIps: { kind: 'unary'; request: SetAllowedIpsRequest; response: Updated }
}

/** What tokens are used for. Internal: the gateway counts, and reports now and then. */
export type TokenUsage = {
  /** Adds to what is known; unknown tokens are left out. */
  recordUsage: { kind: 'unary'; request: RecordUsageRequest; response: Empty }
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
  /** Addresses and CIDR blocks that it may be used from; none: any. */
  allowedIps: string[]
}

/** Token as JSON. */
export type TokenJson = {
  _id: string
  id: string
  name: string
  description: string
  expiresAt: string | null
  /** Name of an API role; null: the token authorizes as its creator. */
  role: string | null
  active: boolean
  archived: boolean
  tokenPreview: string
  status: 'active' | 'inactive' | 'archived' | 'expired' | 'role-missing' | 'creator-missing'
  createdBy: ActorJson
  lastUsedAt: string | null
  lastUsedIp: string | null
  /** Addresses and CIDR blocks that it may be used from; none: any. */
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
  allowedIps: string[]
  /** The full credential, <orgId>:<secret>. */
  token: string
}

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

export type TokenUse = {
  resource: string
  action: 'read' | 'create' | 'update' | 'delete'
  count: number
  lastAt: string
}

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

export type SetAllowedIpsRequest = {
  id: string
  /** IPv4 or IPv6: addresses, or blocks as 192.0.2.0/24 and 2001:db8::/32. */
  cidrs: string[]
}

export type RecordUsageRequest = {
  tokens: RecordUsageRequestUsedToken[]
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

/** Workspaces: who works together, in which role. Inside one, the role in it decides: owner and admin manage, user reads, a custom role does what it allows on workspaces. A token goes by its creator's role in it. Owner and admin of the organization pass. To everyone else a workspace is as unknown as one that does not exist. */
export type Workspaces = {
  /** Lists the caller's workspaces, newest first; all of the organization's with workspaces.read. */
  listWorkspaces: { kind: 'server_stream'; request: ListRequest; response: HttpBody }
  /** Creates a workspace; the caller, or the token's creator, is its first member, its owner, and takes a seat. 409 beyond the limit of workspaces per organization, 1,000 by default. */
  createWorkspace: { kind: 'unary'; request: CreateWorkspaceRequest; response: HttpBody }
  /** One workspace. */
  getWorkspace: { kind: 'unary'; request: IdRequest; response: HttpBody }
  /** Updates a workspace: at least one field. */
  updateWorkspace: { kind: 'unary'; request: UpdateWorkspaceRequest; response: Updated }
  /** Deletes a workspace with its memberships and invitations; no user is touched. */
  deleteWorkspace: { kind: 'unary'; request: IdRequest; response: HttpBody }
}

/** Members of a workspace. */
export type Members = {
  /** Lists the members, newest first. populate=user shows who they are. */
  listWorkspaceMembers: { kind: 'server_stream'; request: ListOfRequest; response: HttpBody }
  /** Adds an account of the organization, by its email; an invitation that is pending for it is used up. Without a free seat 403. */
  addMember: { kind: 'unary'; request: AddMemberRequest; response: HttpBody }
  /** Gives a member another role. The last owner stays one; only an owner makes another, or changes one. */
  updateMember: { kind: 'unary'; request: UpdateMemberRequest; response: Updated }
  /** Removes a member and frees the seat; not the last owner, and an owner only by an owner. Neither the account nor a contact is touched. */
  removeMember: { kind: 'unary'; request: MemberRequest; response: HttpBody }
}

/** Invitations into a workspace. */
export type Invitations = {
  /** Lists the invitations, newest first. */
  listInvitations: { kind: 'server_stream'; request: ListOfRequest; response: HttpBody }
  /** Mails someone an invitation that is good for seven days and takes a seat while it is pending; without a free one 403. An address without an account needs users.create and all that the built-in role user allows, since accepting makes the account; otherwise 403. The answer and the mail hold different links: only the mailed one proves the mailbox. 409 beyond the limit of pending invitations per organization, 1,000 by default. */
  createInvitation: { kind: 'unary'; request: CreateInvitationRequest; response: HttpBody }
  /** Takes a pending invitation back. Only whoever sent it may, in person or by a token. */
  revokeInvitation: { kind: 'unary'; request: InvitationRequest; response: HttpBody }
  /** Accepts an invitation, once. Where the organization has no account of the address yet, name and password make one, whose email is verified if the link is the mailed one. Where it has one, name and password are ignored, and the link has to be the mailed one or the request signed in as the account, in person; otherwise 401. */
  acceptInvitation: { kind: 'unary'; request: AcceptInvitationRequest; response: HttpBody }
  /** Declines an invitation, which frees its seat. */
  declineInvitation: { kind: 'unary'; request: InvitationTokenRequest; response: Updated }
}

export type Workspace = {
  name: string
  image: string
  /** What members and pending invitations may take together; null: any number. */
  seats: number
  /** Flags that the workspace switches on or off for itself, by the slugs of the organization's features. They say nothing about a person: what holds for one stands in GET /api/users/{id}/features. */
  features: Record<string, boolean | null>
  /** Members whose account exists. */
  memberCount: number
  createdBy?: Actor | null
}

/** Workspace as JSON. */
export type WorkspaceJson = {
  _id: string
  id: string
  name: string
  image: string | null
  /** What members and pending invitations may take together; null: any number. */
  seats: number | null
  /** Flags that the workspace switches on or off for itself, by the slugs of the organization's features. They say nothing about a person: what holds for one stands in GET /api/users/{id}/features. */
  features: Record<string, boolean | null>
  /** Members whose account exists. */
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

export type WorkspaceSummary = {
  _id: string
  name: string
  image: string
}

/** WorkspaceSummary as JSON. */
export type WorkspaceSummaryJson = {
  _id: string
  name: string
  image: string | null
}

export type UserSummary = {
  _id: string
  name: string
}

/** UserSummary as JSON. */
export type UserSummaryJson = {
  _id: string
  name: string
}

export type Member = {
  /** Id of the account; null where it was deleted. populate=user shows name, email and image. */
  user: string
  role: string
  joinedAt: string
}

/** Member as JSON. */
export type MemberJson = {
  _id: string
  id: string
  /** Id of the account; null where it was deleted. populate=user shows name, email and image. */
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

export type Invitation = {
  email: string
  role: string
  status: 'pending' | 'accepted' | 'declined' | 'expired'
  expiresAt: string
  createdBy?: Actor | null
}

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

export type CreatedInvitation = {
  email: string
  role: string
  status: 'pending' | 'accepted' | 'declined' | 'expired'
  expiresAt: string
  createdBy?: Actor | null
  /** Where it is accepted or declined; ends in a secret, which is another than the mailed one. */
  acceptUrl: string
}

/** CreatedInvitation as JSON. */
export type CreatedInvitationJson = {
  _id: string
  id: string
  email: string
  role: string
  status: 'pending' | 'accepted' | 'declined' | 'expired'
  expiresAt: string
  createdBy: ActorJson
  /** Where it is accepted or declined; ends in a secret, which is another than the mailed one. */
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

export type AcceptedInvitation = {
  workspace?: WorkspaceSummary | null
  /** Role in the workspace. */
  role: string
  user?: UserSummary | null
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
  /** A whole number from 1 on, or null for any number, which is the default. */
  seats?: unknown
  /** true or false by slug of a feature of the organization. */
  features?: Record<string, boolean | null>
}

export type UpdateWorkspaceRequest = {
  id: string
  name?: string
  image?: string
  /** A whole number from 1 on, not below the seats that are taken, or null for any number. */
  seats?: unknown
  /** Merged into those there are; null removes one. */
  features?: Record<string, boolean | null>
}

export type AddMemberRequest = {
  id: string
  /** Of an account of the organization. */
  email: string
  /** A built-in role or one of kind user; not beyond the caller's own in the workspace. */
  role: string
}

export type UpdateMemberRequest = {
  id: string
  /** Of the account, or of the membership itself. */
  userId: string
  role: string
}

export type MemberRequest = {
  id: string
  /** Of the account, or of the membership itself. */
  userId: string
}

export type CreateInvitationRequest = {
  id: string
  email: string
  /** A built-in role or one of kind user; not beyond the caller's own in the workspace. */
  role: string
}

export type InvitationRequest = {
  id: string
  invitationId: string
}

export type AcceptInvitationRequest = {
  /** From the link. */
  token: string
  name?: string
  /** 8 to 200 characters, not one of the most common passwords. */
  password?: string
}

export type InvitationTokenRequest = {
  /** From the link. */
  token: string
}

/** Who the accounts of the caller's organization are. Internal: for services that refer to users. */
export type Directory = {
  /** The accounts with these ids, in no order; ids that are unknown or of another organization are left out. */
  findUsers: { kind: 'unary'; request: FindUsersRequest; response: FindUsersResponse }
}

/** The caller's organization. Internal: for services that act for it. */
export type Organizations = {
  findOrganization: { kind: 'unary'; request: FindOrganizationRequest; response: FindOrganizationResponse }
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
  /** False from open registration until the owner proves the mailbox. Until then its mail may go to the owners alone. */
  verified: boolean
  ownerEmails: string[]
}

/** User accounts of the organization. Owners rank before admins, admins before everyone else: to change an account of a higher rank, or to give a higher rank, is 403. */
export type Users = {
  /** Lists users, newest first. Honours the shared list parameters. */
  listUsers: { kind: 'server_stream'; request: ListRequest; response: HttpBody }
  /** One user. */
  getUser: { kind: 'unary'; request: IdRequest; response: HttpBody }
  /** Creates an account. Without a password the person gets a mail to set one. Passwords are computed one after another: 429 while two more of the organization, or of the caller's address, are waiting. 409 beyond the limit of accounts per organization, 10,000 by default. */
  createUser: { kind: 'unary'; request: CreateUserRequest; response: HttpBody }
  /** Updates the profile: at least one field. Not of an account of a higher rank. */
  updateUser: { kind: 'unary'; request: UpdateUserRequest; response: Updated }
  /** Replaces the user's tags; [] clears them. */
  replaceUserTags: { kind: 'unary'; request: ReplaceUserTagsRequest; response: Updated }
  /** Blocks the user: every session ends at once, nobody can sign in to the account. Not oneself, not the last owner. */
  blockUser: { kind: 'unary'; request: IdRequest; response: Updated }
  /** Restores access; sessions that had ended stay ended. */
  unblockUser: { kind: 'unary'; request: IdRequest; response: Updated }
  /** Changes the organization-level role, at once for everything the user does. Not beyond the caller's own permissions or rank; not the last owner's. */
  changeRole: { kind: 'unary'; request: ChangeRoleRequest; response: Updated }
  /** Deletes the account for good: sessions end, its tokens are refused. Contacts stay. Not oneself, not the last owner. */
  deleteUser: { kind: 'unary'; request: IdRequest; response: HttpBody }
  /** Active sessions. */
  listUserSessions: { kind: 'server_stream'; request: ListOfRequest; response: HttpBody }
  /** Devices that the user signed in from. */
  listUserDevices: { kind: 'server_stream'; request: ListOfRequest; response: HttpBody }
  /** What the user did, sign-ins and changes, and who acted as them; newest first. */
  listUserActivities: { kind: 'server_stream'; request: ListOfRequest; response: HttpBody }
  /** The workspaces that the user is a member of, the latest first. */
  listUserWorkspaces: { kind: 'server_stream'; request: ListOfRequest; response: HttpBody }
  /** Feature flags as they are for the user: the organization's default, then what the role says, then the user's own. */
  getUserFeatures: { kind: 'unary'; request: IdRequest; response: HttpBody }
  /** Switches features on or off for the user alone; null leaves one to role and default again. Those not named stay. */
  setUserFeatures: { kind: 'unary'; request: SetUserFeaturesRequest; response: Updated }
  /** Emails that were sent to the user's address, the latest first. */
  listUserEmails: { kind: 'server_stream'; request: ListOfRequest; response: HttpBody }
  /** Ends one session at once. */
  revokeUserSession: { kind: 'unary'; request: RevokeUserSessionRequest; response: HttpBody }
  /** Forgets a device and ends its sessions at once. */
  revokeUserDevice: { kind: 'unary'; request: RevokeUserDeviceRequest; response: HttpBody }
}

export type Session = {
  /** Opaque; never the credential. */
  sessionRef: string
  /** For example "Firefox on Linux", or the client's name where a credential was exchanged. */
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

/** Session as JSON. */
export type SessionJson = {
  _id: string
  id: string
  /** Opaque; never the credential. */
  sessionRef: string
  /** For example "Firefox on Linux", or the client's name where a credential was exchanged. */
  device: string
  ip: string | null
  userAgent: string | null
  /** To within a few minutes. */
  lastActiveAt: string
  expiresAt: string
  /** The session that asks. */
  current: boolean
  /** Id of the person behind a read-only impersonation. */
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

/** Device as JSON. */
export type DeviceJson = {
  _id: string
  id: string
  deviceId: string
  /** For example "Firefox on Linux". */
  name: string
  /** With the version that was seen last. */
  browser: string | null
  os: string | null
  /** desktop, mobile, tablet, tv, bot or unknown. */
  type: string
  lastIp: string | null
  firstSeenAt: string
  /** The last sign-in from it. */
  lastSeenAt: string
  /** The device that asks. */
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

export type Activity = {
  /** That of the event: session.created, token.created, user.blocked and so on; or user.permissions_changed, token.permissions_changed. */
  type: string
  at: string
  /** The person, the token that acted as the person, or whoever impersonated them. */
  actor?: Actor | null
  data: Record<string, unknown>
}

/** Activity as JSON. */
export type ActivityJson = {
  _id: string
  id: string
  /** That of the event: session.created, token.created, user.blocked and so on; or user.permissions_changed, token.permissions_changed. */
  type: string
  at: string
  /** The person, the token that acted as the person, or whoever impersonated them. */
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

export type UserWorkspace = {
  workspace?: WorkspaceSummary | null
  /** In the workspace. */
  role: string
  joinedAt: string
}

/** UserWorkspace as JSON. */
export type UserWorkspaceJson = {
  _id: string
  id: string
  workspace: WorkspaceSummaryJson
  /** In the workspace. */
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

export type UserEmail = {
  subject: string
  /** Address it came from. */
  sender: string
  /** Only ever moves on. */
  status: 'queued' | 'sent' | 'delivered' | 'opened' | 'clicked' | 'bounced' | 'failed'
  /** When the receiving server took it. */
  sentAt: string
  /** Why it did not arrive. */
  error: string
}

/** UserEmail as JSON. */
export type UserEmailJson = {
  _id: string
  id: string
  subject: string
  /** Address it came from. */
  sender: string | null
  /** Only ever moves on. */
  status: 'queued' | 'sent' | 'delivered' | 'opened' | 'clicked' | 'bounced' | 'failed'
  /** When the receiving server took it. */
  sentAt: string | null
  /** Why it did not arrive. */
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

/** true or false by slug, for every feature of the organization. */
export type ResolvedFeatures = {
}

/** ResolvedFeatures as JSON. */
export type ResolvedFeaturesJson = {
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
  /** true, false or null by slug of a feature of the organization. */
  features: Record<string, boolean | null>
}
