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
  /** Where browsers reach the API: by https, the cookie of a session is for that host and https alone. */
  PUBLIC_URL: urlOf('http', 'https').default('http://localhost:8080'),
  /** Redis of the limits and of the credential cache. */
  REDIS_CACHE_URL: urlOf('redis', 'rediss'),
  /** Redis of the answers kept for an Idempotency-Key: another than the cache's, which a revocation needs room in. */
  REDIS_QUEUE_URL: urlOf('redis', 'rediss'),
  /** Start of the credential cache's keys; the same in identity. */
  CREDENTIAL_PREFIX: z.string().default('credential:'),
  /** Start of the limits' keys; the same in every replica. */
  LIMIT_PREFIX: z.string().default('limit:'),
  /** Start of the keys of answers kept for an Idempotency-Key; the same in every replica. */
  IDEMPOTENCY_PREFIX: z.string().default('idempotency:'),
  /** How many keys of one token, or of one person's sessions, are kept at a time; each for 24 hours. */
  IDEMPOTENCY_KEY_LIMIT: whole(1, 100_000).default(1000),
  /** The same of all tokens and people of an organization: none fills the Redis that others' jobs need. */
  IDEMPOTENCY_KEY_LIMIT_PER_ORGANIZATION: whole(1, 1_000_000).default(10_000),
  /** Keys that API tokens' secrets are hashed with, the one in use first; the same in identity. */
  TOKEN_KEY: parsedBy(parseHashKeys, '<name>:<base64 of at least 32 bytes>, or several separated by commas'),
  /** Keys that session JWTs are signed with; the same in identity. */
  SESSION_KEYS: parsedBy(parseKeyRing, '<name>:<base64 of at least 32 bytes>, or several separated by commas'),
  SESSION_ISSUER: z.string().default('rollcall'),
  SESSION_AUDIENCE: z.string().default('rollcall'),
  /**
   * Proxies whose X-Forwarded-For, -Proto and -Host count: CIDR blocks, or a number of hops; without it none. A number
   * trusts whoever connects.
   */
  TRUST_PROXY: parsedBy(parseTrustedProxies, 'a number of hops, 0 to 10, or CIDR blocks separated by commas').default(
    0,
  ),
  /** From the arrival of a request to its answer, or to the first byte of a stream. */
  RPC_DEADLINE_MS: milliseconds().default(10_000),
  /** For a whole upload or download. */
  STREAM_DEADLINE_MS: milliseconds().default(600_000),
  /**
   * For a request to arrive: its head, and after that its body. An upload has to bring 16 KiB/s over this time instead. A
   * client that takes nothing of its answer for this time is cut off.
   */
  CLIENT_TIMEOUT_MS: whole(100, 600_000).default(30_000),
  /** Memory for bodies of requests under way, uploads aside; over it the slowest are refused with 503. */
  BODY_MEMORY_BYTES: whole(2 ** 20, 2 ** 40).default(64 * 2 ** 20),
  /** Of these, for the requests of one client address; over it they are refused with 429. */
  BODY_MEMORY_BYTES_PER_ADDRESS: whole(2 ** 20, 2 ** 40).default(16 * 2 ** 20),
  /** Memory for answers that clients have not taken yet; over it the slowest readers are cut off. */
  ANSWER_MEMORY_BYTES: whole(2 ** 20, 2 ** 40).default(128 * 2 ** 20),
  /** Open connections, of which each may hold the 64 KiB of a head; over it those idle longest are closed. */
  MAX_CONNECTIONS: whole(1, 1_000_000).default(5_000),
  /** Open connections of one address that is no trusted proxy; over it new ones are closed. */
  MAX_CONNECTIONS_PER_ADDRESS: whole(1, 1_000_000).default(500),
  /** Streams at once per organization, over all replicas: exports, downloads and lists with `pagination=false`. */
  STREAMS_PER_ORGANIZATION: whole(1, 10_000).default(8),
  /** How often identity is told what API tokens are used for. */
  TOKEN_USAGE_REPORT_MS: whole(100, 60_000).default(20_000),
  UPLOAD_MAX_BYTES: whole(1, 10 * 2 ** 30).default(200 * 2 ** 20),
  /** Servers that hold the API tokens of some organizations; those of all others are with identity. */
  TENANT_SERVERS: parsedBy<TenantAddresses>(
    parseTenantServers,
    'a JSON object of host:port by organization id, or <organization id>=host:port separated by commas',
  ).default(new Map()),
  /** The key that calls to those servers are signed with: none that a service of this installation accepts. */
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

/** The settings of the gateway. */
export type Config = z.infer<typeof schema>

/** Reads the settings. @throws {ConfigError} naming every bad variable */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  return loadConfig(schema, env)
}

/** Every context of the contract is served at `<CONTEXT>_ADDRESS`. */
function addresses() {
  const entries = boundedContexts().map(context => [addressVariable(context), address()])
  return Object.fromEntries(entries) as Record<AddressVariable, ReturnType<typeof address>>
}

type AddressVariable = `${Uppercase<BoundedContext>}_ADDRESS`

/** Name of the setting that says where a context is served. */
export function addressVariable(context: BoundedContext): AddressVariable {
  return `${context.toUpperCase()}_ADDRESS` as AddressVariable
}

/** What Express takes as "trust proxy". Whoever trusts every address lets clients choose the one they are counted by. */
function parseTrustedProxies(text: string): number | string[] {
  if (/^(\d|10)$/.test(text)) return Number(text)
  return text.split(',').map(part => {
    const block = part.trim()
    if (!isIP(block) && ipaddr.parseCIDR(block)[1] === 0) throw new RangeError('a block of all addresses')
    return block
  })
}
