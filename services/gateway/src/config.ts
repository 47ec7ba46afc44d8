import { isIP } from 'node:net'
import { parseHashKeys, parseKeyRing } from '@rollcall/credentials'
import { address, readSigningKey, rpcConfig } from '@rollcall/rpc'
import { baseConfig, loadConfig, milliseconds, parsedBy, port, urlOf, whole } from '@rollcall/runtime'
import ipaddr from 'ipaddr.js'
import { z } from 'zod'
import { type BoundedContext, boundedContexts } from './backends.ts'
import { parseTenantServers, type TenantAddresses } from './tenant-servers.ts'

const settings = z.object({
  ...baseConfig,
  ...rpcConfig,
  /** Port of the API. */
  PORT: port().default(8080),
  /** URL at which browsers reach the API. With https, the session cookie is for that host and https only. */
  PUBLIC_URL: urlOf('http', 'https').default('http://localhost:8080'),
  /** Folder of the built console, served at /console/; empty: none. */
  CONSOLE_DIR: z.string().default(''),
  /** Redis of the limits and of the credential cache. */
  REDIS_CACHE_URL: urlOf('redis', 'rediss'),
  /** Redis of the answers kept for an Idempotency-Key. Not the cache's: revocations need free memory there. */
  REDIS_QUEUE_URL: urlOf('redis', 'rediss'),
  /** Prefix of the credential cache's keys. Must be the same in identity. */
  CREDENTIAL_PREFIX: z.string().default('credential:'),
  /** Prefix of the limits' keys. Must be the same in every replica. */
  LIMIT_PREFIX: z.string().default('limit:'),
  /** Prefix of the keys of answers kept for an Idempotency-Key. Must be the same in every replica. */
  IDEMPOTENCY_PREFIX: z.string().default('idempotency:'),
  /** Maximum idempotency keys in use per token, or per user over all sessions. Each is kept for 24 hours. */
  IDEMPOTENCY_KEY_LIMIT: whole(1, 100_000).default(1000),
  /** Maximum idempotency keys in use per organization: one must not fill the Redis that jobs of all use. */
  IDEMPOTENCY_KEY_LIMIT_PER_ORGANIZATION: whole(1, 1_000_000).default(10_000),
  /** Keys to hash secrets of API tokens, the current one first. Must be the same in identity. */
  TOKEN_KEY: parsedBy(parseHashKeys, '<name>:<base64 of at least 32 bytes>, or several separated by commas'),
  /** Keys to sign session JWTs. Must be the same in identity. */
  SESSION_KEYS: parsedBy(parseKeyRing, '<name>:<base64 of at least 32 bytes>, or several separated by commas'),
  SESSION_ISSUER: z.string().default('rollcall'),
  SESSION_AUDIENCE: z.string().default('rollcall'),
  /** Origins of web pages that may call the API with the session cookie: consoles on other origins than the API's. */
  CONSOLE_ORIGINS: parsedBy(parseOrigins, 'origins separated by commas, such as https://console.example.com').default(
    new Set<string>(),
  ),
  /**
   * Proxies whose X-Forwarded-For, -Proto and -Host are trusted: CIDR blocks, or a number of hops. Default: none.
   * A number trusts every peer that connects.
   */
  TRUST_PROXY: parsedBy(parseTrustedProxies, 'a number of hops, 0 to 10, or CIDR blocks separated by commas').default(
    0,
  ),
  /** Time from the arrival of a request to its answer, or to the first byte of a stream. */
  RPC_DEADLINE_MS: milliseconds().default(10_000),
  /** Time for a whole download. Uploads have the time that the largest file takes at 16 KiB/s in addition. */
  STREAM_DEADLINE_MS: milliseconds().default(600_000),
  /**
   * Time for the head of a request to arrive, and then for its body. An upload needs an average of 16 KiB/s over this
   * time instead. A client that reads nothing of its answer for this time is cut off.
   */
  CLIENT_TIMEOUT_MS: whole(100, 600_000).default(30_000),
  /** Memory for request bodies in progress, except uploads. Above it, the slowest get 503. */
  BODY_MEMORY_BYTES: whole(2 ** 20, 2 ** 40).default(64 * 2 ** 20),
  /** Memory for request bodies per client address. Above it, requests get 429. */
  BODY_MEMORY_BYTES_PER_ADDRESS: whole(2 ** 20, 2 ** 40).default(16 * 2 ** 20),
  /** Memory for answers that clients have not read yet. Above it, the slowest readers are cut off. */
  ANSWER_MEMORY_BYTES: whole(2 ** 20, 2 ** 40).default(128 * 2 ** 20),
  /** Maximum open connections. Each may hold a head of 64 KiB. Above it, those idle longest are closed. */
  MAX_CONNECTIONS: whole(1, 1_000_000).default(5_000),
  /** Maximum open connections per address, except of trusted proxies. Above it, new ones are closed. */
  MAX_CONNECTIONS_PER_ADDRESS: whole(1, 1_000_000).default(500),
  /**
   * Maximum concurrent streams per organization over all replicas: exports, downloads, lists with `pagination=false`.
   */
  STREAMS_PER_ORGANIZATION: whole(1, 10_000).default(8),
  /** Interval of reports to identity on the use of API tokens. */
  TOKEN_USAGE_REPORT_MS: whole(100, 60_000).default(20_000),
  UPLOAD_MAX_BYTES: whole(1, 10 * 2 ** 30).default(200 * 2 ** 20),
  /** Servers that store the API tokens of some organizations. Identity stores those of all others. */
  TENANT_SERVERS: parsedBy<TenantAddresses>(
    parseTenantServers,
    'a JSON object of host:port by organization id, or <organization id>=host:port separated by commas',
  ).default(new Map()),
  /** Key to sign calls to those servers. No service of this installation must accept it. */
  TENANT_ASSERTION_KEY: parsedBy(readSigningKey, 'gateway:<Ed25519 private key, PKCS #8 in base64>').optional(),
  ...addresses(),
})

const schema = settings.check(({ value, issues }) => {
  const { TENANT_SERVERS: servers, TENANT_ASSERTION_KEY: key, ASSERTION_KEY: own } = value
  const refuse = (message: string) =>
    issues.push({ code: 'custom', path: ['TENANT_ASSERTION_KEY'], message, input: undefined })
  if (servers.size > 0 && key === undefined) refuse('expected with TENANT_SERVERS')
  if (key?.id === own.id) refuse('expected another key than ASSERTION_KEY')
})

/** Settings of the gateway. */
export type Config = z.infer<typeof schema>

/**
 * Reads the settings.
 * @throws {ConfigError} naming every invalid variable
 */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  return loadConfig(schema, env)
}

/** Returns one setting per context: `<CONTEXT>_ADDRESS`. */
function addresses() {
  const entries = boundedContexts().map(context => [addressVariable(context), address()])
  return Object.fromEntries(entries) as Record<AddressVariable, ReturnType<typeof address>>
}

type AddressVariable = `${Uppercase<BoundedContext>}_ADDRESS`

/** Returns the name of the setting for a context's address. */
export function addressVariable(context: BoundedContext): AddressVariable {
  return `${context.toUpperCase()}_ADDRESS` as AddressVariable
}

/** Parses origins as browsers send them: scheme, host and port only, in lower case. */
function parseOrigins(text: string): ReadonlySet<string> {
  const origins = text.split(',').map(part => part.trim())
  const wrong = origins.find(origin => !/^https?:/.test(origin) || URL.parse(origin)?.origin !== origin)
  if (wrong !== undefined) throw new RangeError('not an origin')
  return new Set(origins)
}

/**
 * Parses Express's "trust proxy". Refuses to trust all addresses: clients could then choose the one they are counted
 * by.
 */
function parseTrustedProxies(text: string): number | string[] {
  if (/^(\d|10)$/.test(text)) return Number(text)
  return text.split(',').map(part => {
    const block = part.trim()
    if (!isIP(block) && ipaddr.parseCIDR(block)[1] === 0) throw new RangeError('a block of all addresses')
    return block
  })
}
