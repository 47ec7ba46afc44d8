import { busConfig, saslIsComplete } from '@rollcall/bus'
import { isEmail } from '@rollcall/contract'
import { parseHashKeys, parseKeyRing } from '@rollcall/credentials'
import { address, rpcServerConfig } from '@rollcall/rpc'
import { baseConfig, loadConfig, parsedBy, urlOf, whole } from '@rollcall/runtime'
import { storeConfig } from '@rollcall/store'
import { z } from 'zod'
import { isCommonPassword } from './users/common-passwords.ts'
import { MIN_PASSWORD_LENGTH, type PasswordCost } from './users/passwords.ts'

const schema = z
  .object({
    ...baseConfig,
    ...storeConfig('rollcall_identity'),
    ...busConfig,
    ...rpcServerConfig,
    REDIS_CACHE_URL: urlOf('redis', 'rediss'),
    /** Key prefix of the credential cache; must match the gateway's. */
    CREDENTIAL_PREFIX: z.string().default('credential:'),
    /** Keys for hashing stored secrets, current key first; must match the gateway's. */
    TOKEN_KEY: parsedBy(parseHashKeys, '<name>:<base64 of at least 32 bytes>, or several separated by commas'),
    /** Keys for stored secrets: the first one encrypts, the others decrypt secrets that are not rotated yet. */
    SECRET_KEYS: parsedBy(parseKeyRing, '<name>:<base64 of at least 32 bytes>, or several separated by commas'),
    /** Keys for session JWTs, signing key first; must match the gateway's. */
    SESSION_KEYS: parsedBy(parseKeyRing, '<name>:<base64 of at least 32 bytes>, or several separated by commas'),
    SESSION_ISSUER: z.string().default('rollcall'),
    SESSION_AUDIENCE: z.string().default('rollcall'),
    /** Lifetime of a sign-in session: 12 hours to 7 days. */
    SESSION_HOURS: whole(12, 168).default(24),
    /** Whether anyone may register an organization. */
    REGISTRATION: z.enum(['open', 'closed']).default('closed'),
    /** Email and password of the first organization's owner, created at start if the database is empty. */
    BOOTSTRAP_EMAIL: z.string().refine(isEmail, { error: 'expected an email address' }).optional(),
    BOOTSTRAP_PASSWORD: z
      .string()
      .min(MIN_PASSWORD_LENGTH, { error: `expected at least ${MIN_PASSWORD_LENGTH} characters` })
      .refine(password => !isCommonPassword(password), { error: 'expected a less common password' })
      .optional(),
    BOOTSTRAP_ORGANIZATION: z.string().default('Rollcall'),
    /** Address of the messaging service; without it, no mail is sent. */
    MESSAGING_ADDRESS: address().optional(),
    /** Base URL of the console, for links in mails. */
    CONSOLE_URL: urlOf('http', 'https').default('http://localhost:8080/console'),
    /** Concurrent password hashes; and the queue length, separately for sign-ins and for new passwords. */
    PASSWORD_PARALLELISM: whole(1, 16).default(2),
    PASSWORD_QUEUE: whole(0, 10_000).default(200),
    /** Maximum queued new passwords per organization and per client address. */
    PASSWORD_QUEUE_PER_SETTER: whole(1, 1000).default(2),
    /** Quotas per organization. */
    TOKENS_PER_ORGANIZATION: whole(1, 1_000_000).default(1000),
    ROLES_PER_ORGANIZATION: whole(1, 1_000_000).default(200),
    ACCOUNTS_PER_ORGANIZATION: whole(1, 1_000_000).default(10_000),
    WORKSPACES_PER_ORGANIZATION: whole(1, 1_000_000).default(1000),
    INVITATIONS_PER_ORGANIZATION: whole(1, 1_000_000).default(1000),
    FEATURES_PER_ORGANIZATION: whole(1, 1_000_000).default(200),
    /** Maximum active sign-ins per account, and separately of derived sessions. */
    SESSIONS_PER_ACCOUNT: whole(1, 1_000_000).default(1000),
  })
  .check(saslIsComplete)
  .check(context => {
    const { BOOTSTRAP_EMAIL: email, BOOTSTRAP_PASSWORD: password } = context.value
    const path = [email === undefined ? 'BOOTSTRAP_EMAIL' : 'BOOTSTRAP_PASSWORD']
    if ((email === undefined) !== (password === undefined)) {
      context.issues.push({ code: 'custom', path, message: 'expected both or neither', input: undefined })
    }
  })

/** The settings of the identity service. `passwordCost` has no variable: only tests change it. */
export type Config = z.infer<typeof schema> & { passwordCost?: PasswordCost }

/** Reads the settings. @throws {ConfigError} naming every bad variable */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  return loadConfig(schema, env)
}
