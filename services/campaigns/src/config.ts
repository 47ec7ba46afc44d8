import { busConfig, saslIsComplete } from '@rollcall/bus'
import { address, rpcServerConfig } from '@rollcall/rpc'
import { baseConfig, loadConfig, whole } from '@rollcall/runtime'
import { storeConfig } from '@rollcall/store'
import { z } from 'zod'

const schema = z
  .object({
    ...baseConfig,
    ...storeConfig('rollcall_campaigns'),
    ...busConfig,
    ...rpcServerConfig,
    /** Addresses of the services that are called. */
    AUDIENCE_ADDRESS: address(),
    IDENTITY_ADDRESS: address(),
    MESSAGING_ADDRESS: address(),
    /** Campaigns per organization. */
    CAMPAIGNS_PER_ORGANIZATION: whole(1, 1_000_000).default(10_000),
    /** Templates per organization. */
    TEMPLATES_PER_ORGANIZATION: whole(1, 100_000).default(1000),
  })
  .check(saslIsComplete)

/** Settings of the campaigns service. */
export type Config = z.infer<typeof schema>

/**
 * Reads the settings.
 * @throws {ConfigError} naming every invalid variable
 */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  return loadConfig(schema, env)
}
