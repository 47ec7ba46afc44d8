import {
  type CachedValue,
  type CredentialCache,
  connectCacheRedis,
  createCredentialCache,
  createSecretHashers,
  createSessionJwt,
  type SecretHashers,
  type SessionJwt,
} from '@rollcall/credentials'
import { connect, rpcSettings } from '@rollcall/rpc'
import type { Lifecycle } from '@rollcall/runtime'
import { connectStore, type Scope, type Store, scoped, storeSettings } from '@rollcall/store'
import type { Model, Types } from 'mongoose'
import { type Activity, activitySchema } from './activities/activity.model.ts'
import { type Client, clientSchema } from './clients/client.model.ts'
import type { Config } from './config.ts'
import { type Feature, featureSchema } from './features/feature.model.ts'
import { createLogMailer, createMailer, type Mailer } from './mailer.ts'
import { type Organization, organizationSchema } from './organizations/organization.model.ts'
import type { Quotas } from './organizations/quotas.ts'
import { type Role, roleSchema } from './roles/role.model.ts'
import { deviceSchema, type KnownDevice } from './sessions/device.model.ts'
import type { FailureReason } from './sessions/report-failure.ts'
import { type Session, sessionSchema } from './sessions/session.model.ts'
import {
  type SignInCode,
  type SignInCodeBudget,
  signInCodeBudgetSchema,
  signInCodeSchema,
} from './sessions/sign-in-code.model.ts'
import { type SignInLimit, signInLimitSchema } from './sessions/sign-in-limit.model.ts'
import { createSignInThrottle, type SignInThrottle } from './sessions/sign-in-throttle.ts'
import { type Token, tokenSchema } from './tokens/token.model.ts'
import { type TokenUse, tokenUseSchema } from './tokens/token-use.model.ts'
import { type PasswordReset, passwordResetSchema } from './users/password-reset.model.ts'
import { createPasswords, type Passwords } from './users/passwords.ts'
import { type User, userSchema } from './users/user.model.ts'
import { type UserEmail, userEmailSchema } from './users/user-email.model.ts'
import { type Invitation, invitationSchema } from './workspaces/invitation.model.ts'
import { type Member, memberSchema } from './workspaces/member.model.ts'
import { type Workspace, workspaceSchema } from './workspaces/workspace.model.ts'

/** The collections of this service. */
export type Models = {
  organizations: Model<Organization>
  users: Model<User>
  sessions: Model<Session>
  signInCodes: Model<SignInCode>
  signInCodeBudgets: Model<SignInCodeBudget>
  signInLimits: Model<SignInLimit>
  clients: Model<Client>
  roles: Model<Role>
  tokens: Model<Token>
  tokenUses: Model<TokenUse>
  devices: Model<KnownDevice>
  activities: Model<Activity>
  passwordResets: Model<PasswordReset>
  userEmails: Model<UserEmail>
  features: Model<Feature>
  workspaces: Model<Workspace>
  members: Model<Member>
  invitations: Model<Invitation>
}

/** The collections as one organization sees them. */
export type Tenant = {
  users: Scope<User>
  sessions: Scope<Session>
  roles: Scope<Role>
  tokens: Scope<Token>
  tokenUses: Scope<TokenUse>
  devices: Scope<KnownDevice>
  activities: Scope<Activity>
  passwordResets: Scope<PasswordReset>
  userEmails: Scope<UserEmail>
  features: Scope<Feature>
  workspaces: Scope<Workspace>
  members: Scope<Member>
  invitations: Scope<Invitation>
}

/** All that the handlers work with. */
export type Context = {
  store: Store
  /** For what is not about one organization; everything else goes through `within`. */
  models: Models
  within(organizationId: string | Types.ObjectId): Tenant
  /** Where the gateway keeps resolved credentials: whatever changes what they resolve to goes through its `change`. */
  credentials: CredentialCache<CachedValue>
  passwords: Passwords
  signInThrottle: SignInThrottle
  /** Counts a failed sign-in in the metrics. */
  countSignInFailure(reason: FailureReason): void
  sessionJwt: SessionJwt
  /** For whom session JWTs are issued. */
  audience: string
  sessionLifetimeMs: number
  /** Hashers of stored secrets, by purpose. */
  secrets: SecretHashers
  registration: 'open' | 'closed'
  quotas: Quotas
  mailer: Mailer
  /** Where the links of mails lead, without a slash at the end. */
  consoleUrl: string
}

/** Builds the context, connected to what the configuration names. */
export async function createContext(config: Config, lifecycle: Lifecycle): Promise<Context> {
  const { logger, metrics, onStop } = lifecycle
  const redis = connectCacheRedis({
    url: config.REDIS_CACHE_URL,
    onError: err => logger.warn({ err }, 'no Redis: credentials cannot be changed'),
  })
  onStop('redis', async () => redis.disconnect())
  const store = await connectStore({ ...storeSettings(config), logger })
  onStop('store', store.close)
  const models = declareModels(store)
  const passwords = await createPasswords({
    parallelism: config.PASSWORD_PARALLELISM,
    maxWaiting: config.PASSWORD_QUEUE,
    maxWaitingPerSetter: config.PASSWORD_QUEUE_PER_SETTER,
  })
  const signInFailures = metrics.counter<'reason'>({
    name: 'rollcall_sign_in_failures_total',
    help: 'Failed sign-ins, by reason',
    labels: ['reason'],
  })
  return {
    store,
    models,
    within: organizationId => ({
      users: scoped(models.users, organizationId),
      sessions: scoped(models.sessions, organizationId),
      roles: scoped(models.roles, organizationId),
      tokens: scoped(models.tokens, organizationId),
      tokenUses: scoped(models.tokenUses, organizationId),
      devices: scoped(models.devices, organizationId),
      activities: scoped(models.activities, organizationId),
      passwordResets: scoped(models.passwordResets, organizationId),
      userEmails: scoped(models.userEmails, organizationId),
      features: scoped(models.features, organizationId),
      workspaces: scoped(models.workspaces, organizationId),
      members: scoped(models.members, organizationId),
      invitations: scoped(models.invitations, organizationId),
    }),
    credentials: createCredentialCache(redis, { prefix: config.CREDENTIAL_PREFIX }),
    passwords,
    signInThrottle: createSignInThrottle(models.signInLimits, passwords),
    countSignInFailure: reason => signInFailures.inc({ reason }),
    sessionJwt: createSessionJwt({
      keys: config.SESSION_KEYS,
      issuer: config.SESSION_ISSUER,
      audience: config.SESSION_AUDIENCE,
    }),
    audience: config.SESSION_AUDIENCE,
    sessionLifetimeMs: config.SESSION_HOURS * 3_600_000,
    secrets: createSecretHashers(config.TOKEN_KEY),
    registration: config.REGISTRATION,
    quotas: {
      tokens: config.TOKENS_PER_ORGANIZATION,
      roles: config.ROLES_PER_ORGANIZATION,
      accounts: config.ACCOUNTS_PER_ORGANIZATION,
      workspaces: config.WORKSPACES_PER_ORGANIZATION,
      invitations: config.INVITATIONS_PER_ORGANIZATION,
      features: config.FEATURES_PER_ORGANIZATION,
      sessions: config.SESSIONS_PER_ACCOUNT,
    },
    mailer: connectMailer(config, lifecycle),
    consoleUrl: config.CONSOLE_URL.replace(/\/$/, ''),
  }
}

function connectMailer(config: Config, { logger, onStop }: Lifecycle): Mailer {
  if (config.MESSAGING_ADDRESS === undefined) return createLogMailer(logger)
  const messaging = connect({ ...rpcSettings(config), address: config.MESSAGING_ADDRESS })
  onStop('connection to messaging', async () => messaging.close())
  return createMailer(messaging.client('rollcall.messaging.v1.Mail'))
}

/** The collections of this service in a store. */
export function declareModels(store: Store): Models {
  return {
    organizations: store.model('Organization', organizationSchema),
    users: store.model('User', userSchema),
    sessions: store.model('Session', sessionSchema),
    signInCodes: store.model('SignInCode', signInCodeSchema),
    signInCodeBudgets: store.model('SignInCodeBudget', signInCodeBudgetSchema),
    signInLimits: store.model('SignInLimit', signInLimitSchema),
    clients: store.model('Client', clientSchema),
    roles: store.model('Role', roleSchema),
    tokens: store.model('Token', tokenSchema),
    tokenUses: store.model('TokenUse', tokenUseSchema),
    devices: store.model('Device', deviceSchema),
    activities: store.model('Activity', activitySchema),
    passwordResets: store.model('PasswordReset', passwordResetSchema),
    userEmails: store.model('UserEmail', userEmailSchema),
    features: store.model('Feature', featureSchema),
    workspaces: store.model('Workspace', workspaceSchema),
    members: store.model('Member', memberSchema),
    invitations: store.model('Invitation', invitationSchema),
  }
}
