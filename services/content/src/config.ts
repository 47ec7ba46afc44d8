import { busConfig, saslIsComplete } from '@rollcall/bus'
import { rpcServerConfig } from '@rollcall/rpc'
import { baseConfig, loadConfig, urlOf, whole } from '@rollcall/runtime'
import { storeConfig } from '@rollcall/store'
import { z } from 'zod'

const schema = z
  .object({
    ...baseConfig,
    ...storeConfig('rollcall_content'),
    ...busConfig,
    ...rpcServerConfig,
    /** URL of the gateway for browsers, which short links begin with. */
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
