import {
  type CachedValue,
  type CredentialCache,
  connectCacheRedis,
  createCredentialCache,
  createSecretHashers,
  createSecrets,
  createSessionJwt,
  type SecretHashers,
  type Secrets,
  type SessionJwt,
} from '@rollcall/credentials'
import { connect, rpcSettings } from '@rollcall/rpc'
import type { Lifecycle } from '@rollcall/runtime'
import type { Base } from '@rollcall/service'
import type { Store } from '@rollcall/store'
import type { Bootstrap } from './bootstrap.ts'
import type { Collections } from './collections.ts'
import type { Config } from './config.ts'
import { createLogMailer, createMailer, type Mailer } from './mailer.ts'
import type { Quotas } from './organizations/quotas.ts'
import type { FailureReason } from './sessions/report-failure.ts'
import { createSignInThrottle, type SignInThrottle } from './sessions/sign-in-throttle.ts'
import { createPasswords, type Passwords } from './users/passwords.ts'

/** Dependencies of the handlers. */
export type Context = {
  store: Store
  collections: Collections
  /** The gateway's cache of resolved credentials. Every change of what they resolve to must go through `change`. */
  credentials: CredentialCache<CachedValue>
  passwords: Passwords
  signInThrottle: SignInThrottle
  /** Counts a failed sign-in in the metrics. */
  countSignInFailure(reason: FailureReason): void
  sessionJwt: SessionJwt
  /** Audience of session JWTs. */
  audience: string
  /** Hours until a sign-in expires, unless the organization has a setting of its own. */
  sessionHours: number
  /** Hashers of stored secrets, by purpose. */
  secrets: SecretHashers
  /** Encrypts the secrets that must be read again. */
  encryption: Secrets
  registration: 'open' | 'closed'
  /** The first organization and its owner, if configured. */
  founder: Bootstrap | undefined
  quotas: Quotas
  mailer: Mailer
  /** Base URL for links in mails, without a trailing slash. */
  consoleUrl: string
}

/** Creates the context with its connections. */
export async function createContext(base: Base<Config, Collections>): Promise<Context> {
  const { config, store, collections, lifecycle } = base
  const { logger, metrics, onStop } = lifecycle
  const redis = connectCacheRedis({
    url: config.REDIS_CACHE_URL,
    onError: err => logger.warn({ err }, 'Redis unavailable, credentials cannot be changed'),
  })
  onStop('redis', async () => redis.disconnect())
  const passwords = await createPasswords({
    cost: config.passwordCost,
    parallelism: config.PASSWORD_PARALLELISM,
    maxWaiting: config.PASSWORD_QUEUE,
    maxWaitingPerSetter: config.PASSWORD_QUEUE_PER_SETTER,
  })
  const signInFailures = metrics.counter<'reason'>({
    name: 'rollcall_sign_in_failures_total',
    help: 'Failed sign-ins by reason',
    labels: ['reason'],
  })
  return {
    store,
    collections,
    credentials: createCredentialCache(redis, { prefix: config.CREDENTIAL_PREFIX }),
    passwords,
    signInThrottle: createSignInThrottle(collections.unscoped.signInLimits, passwords),
    countSignInFailure: reason => signInFailures.inc({ reason }),
    sessionJwt: createSessionJwt({
      keys: config.SESSION_KEYS,
      issuer: config.SESSION_ISSUER,
      audience: config.SESSION_AUDIENCE,
    }),
    audience: config.SESSION_AUDIENCE,
    sessionHours: config.SESSION_HOURS,
    secrets: createSecretHashers(config.TOKEN_KEY),
    encryption: createSecrets(config.SECRET_KEYS),
    registration: config.REGISTRATION,
    founder: founderOf(config),
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

function founderOf(config: Config): Bootstrap | undefined {
  const { BOOTSTRAP_EMAIL: email, BOOTSTRAP_PASSWORD: password, BOOTSTRAP_ORGANIZATION: organization } = config
  return email === undefined || password === undefined ? undefined : { email, password, organization }
}
