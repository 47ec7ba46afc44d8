import { busConfig, saslIsComplete } from '@rollcall/bus'
import { parseKeyRing } from '@rollcall/credentials'
import { address, rpcServerConfig } from '@rollcall/rpc'
import { baseConfig, loadConfig, parsedBy, urlOf, whole } from '@rollcall/runtime'
import { storeConfig } from '@rollcall/store'
import { z } from 'zod'

const schema = z
  .object({
    ...baseConfig,
    ...storeConfig('rollcall_content'),
    ...busConfig,
    ...rpcServerConfig,
    /** Addresses of the audience and messaging services. */
    AUDIENCE_ADDRESS: address(),
    MESSAGING_ADDRESS: address(),
    /** Keys for links that confirm addresses: the first one signs, the others verify links that are still on their way. */
    LINK_KEYS: parsedBy(parseKeyRing, '<name>:<base64 of at least 32 bytes>, or several separated by commas'),
    /** URL of the gateway for browsers, which links begin with. */
    PUBLIC_URL: urlOf('http', 'https').default('http://localhost:8080'),
    LINKS_PER_ORGANIZATION: whole(1, 1_000_000).default(10_000),
    COLLECTIONS_PER_ORGANIZATION: whole(1, 10_000).default(100),
    ENTRIES_PER_COLLECTION: whole(1, 1_000_000).default(100_000),
    /** File of a MaxMind database with countries (GeoLite2 Country, for example). Without it, countries are not counted. */
    GEOIP_FILE: z.string().optional(),
  })
  .check(saslIsComplete)

/** Settings of the content service. */
export type Config = z.infer<typeof schema>

/**
 * Reads the settings.
 * @throws {ConfigError} naming every invalid variable
 */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  return loadConfig(schema, env)
}
