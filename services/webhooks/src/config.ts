import { busConfig, saslIsComplete } from '@rollcall/bus'
import { parseKeyRing } from '@rollcall/credentials'
import { rpcServerConfig } from '@rollcall/rpc'
import { baseConfig, flag, list, loadConfig, milliseconds, parsedBy, urlOf, whole } from '@rollcall/runtime'
import { storeConfig } from '@rollcall/store'
import { z } from 'zod'

const schema = z
  .object({
    ...baseConfig,
    ...storeConfig('rollcall_webhooks'),
    ...busConfig,
    ...rpcServerConfig,
    /** Keys for stored secrets: the first one encrypts, the others decrypt secrets that are not rotated yet. */
    SECRET_KEYS: parsedBy(parseKeyRing, '<name>:<base64 of at least 32 bytes>, or several separated by commas'),
    /** Webhooks per organization. */
    WEBHOOK_ENDPOINTS: whole(1, 1000).default(20),
    /** Time for one request and its answer. */
    WEBHOOK_TIMEOUT_MS: milliseconds().default(15_000),
    /** HTTP proxy for all requests, such as smokescreen. It has to refuse private addresses: it resolves names again. */
    WEBHOOK_PROXY: urlOf('http', 'https').optional(),
    /** Ports that a URL may name. Without WEBHOOK_ALLOW_HTTP: 443 and 8443; with it, also 80 and 8080. */
    WEBHOOK_PORTS: list().optional(),
    /** Allows http as well as https. For development. */
    WEBHOOK_ALLOW_HTTP: flag().default(false),
    /** Allows private, loopback and other special addresses, and all ports. For development. */
    WEBHOOK_ALLOW_PRIVATE: flag().default(false),
    /** The first pause between attempts; each later one is a multiple of it. */
    WEBHOOK_RETRY_MS: milliseconds().default(5_000),
    /** How long events are kept, in days, if the organization has not chosen. */
    EVENT_RETENTION_DAYS: whole(7, 365).default(90),
  })
  .check(saslIsComplete)

/** Settings of the webhooks service. */
export type Config = z.infer<typeof schema>

/**
 * Reads the settings.
 * @throws {ConfigError} naming every invalid variable
 */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  return loadConfig(schema, env)
}
