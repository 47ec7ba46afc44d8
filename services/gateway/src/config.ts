import { isIP } from 'node:net'
import { parseKeyRing, parseSecretKey } from '@rollcall/credentials'
import { address, rpcConfig } from '@rollcall/rpc'
import { baseConfig, loadConfig, milliseconds, parsedBy, port, urlOf, whole } from '@rollcall/runtime'
import ipaddr from 'ipaddr.js'
import { z } from 'zod'
import { type BoundedContext, boundedContexts } from './backends.ts'
import { parseTenantServers, type TenantAddresses } from './tenant-servers.ts'

const schema = z.object({
  ...baseConfig,
  ...rpcConfig,
  /** Port of the API. */
  PORT: port().default(8080),
  /** Redis of the limits and of the credential cache. */
  REDIS_CACHE_URL: urlOf('redis', 'rediss'),
  /** Start of the credential cache's keys; the same in identity. */
  CREDENTIAL_PREFIX: z.string().default('credential:'),
  /** Start of the limits' keys; the same in every replica. */
  LIMIT_PREFIX: z.string().default('limit:'),
  /** Start of the keys of answers kept for an Idempotency-Key; the same in every replica. */
  IDEMPOTENCY_PREFIX: z.string().default('idempotency:'),
  /** Key that API tokens' secrets are hashed with; the same in identity. */
  TOKEN_KEY: parsedBy(parseSecretKey, 'base64 of at least 32 bytes'),
  /** Keys that session JWTs are signed with; the same in identity. */
  SESSION_KEYS: parsedBy(parseKeyRing, '<name>:<base64 of at least 32 bytes>, or several separated by commas'),
  SESSION_ISSUER: z.string().default('rollcall'),
  SESSION_AUDIENCE: z.string().default('rollcall'),
  /** Proxies whose X-Forwarded-For, -Proto and -Host count: a number of hops, or CIDR blocks; without it none. */
  TRUST_PROXY: parsedBy(parseTrustedProxies, 'a number of hops, 0 to 10, or CIDR blocks separated by commas').default(
    0,
  ),
  /** From the arrival of a request to its answer, or to the first byte of a stream. */
  RPC_DEADLINE_MS: milliseconds().default(10_000),
  /** For a whole upload or download. */
  STREAM_DEADLINE_MS: milliseconds().default(600_000),
  /** How often identity is told what API tokens are used for. */
  TOKEN_USAGE_REPORT_MS: whole(100, 60_000).default(20_000),
  UPLOAD_MAX_BYTES: whole(1, 10 * 2 ** 30).default(200 * 2 ** 20),
  /** Servers that hold the API tokens of some organizations; those of all others are with identity. */
  TENANT_SERVERS: parsedBy<TenantAddresses>(
    parseTenantServers,
    'a JSON object of host:port by organization id, or <organization id>=host:port separated by commas',
  ).default(new Map()),
  ...addresses(),
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
