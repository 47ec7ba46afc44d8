import { busConfig, saslIsComplete } from '@rollcall/bus'
import { address, rpcServerConfig } from '@rollcall/rpc'
import { baseConfig, loadConfig } from '@rollcall/runtime'
import { storeConfig } from '@rollcall/store'
import { z } from 'zod'

const schema = z
  .object({
    ...baseConfig,
    ...storeConfig('rollcall_audience'),
    ...busConfig,
    ...rpcServerConfig,
    /** Maximum of lists, segments and attribute definitions per organization. */
    MAX_LISTS: z.coerce.number().int().min(1).default(1000),
    MAX_SEGMENTS: z.coerce.number().int().min(1).default(500),
    MAX_ATTRIBUTES: z.coerce.number().int().min(1).default(500),
    /** Address of the identity service. */
    IDENTITY_ADDRESS: address(),
    CAMPAIGNS_ADDRESS: address(),
  })
  .check(saslIsComplete)

/** The settings of the audience service. */
export type Config = z.infer<typeof schema>

/** Reads the settings. @throws {ConfigError} naming every bad variable */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  return loadConfig(schema, env)
}
