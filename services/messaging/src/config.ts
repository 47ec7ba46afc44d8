import { busConfig } from '@rollcall/bus'
import { parseKeyRing } from '@rollcall/credentials'
import { rpcServerConfig } from '@rollcall/rpc'
import { baseConfig, list, loadConfig, parsedBy, urlOf } from '@rollcall/runtime'
import { storeConfig } from '@rollcall/store'
import { z } from 'zod'
import { mailConfig } from './mail/config.ts'

const schema = z.object({
  ...baseConfig,
  ...storeConfig('rollcall_messaging'),
  ...busConfig,
  ...rpcServerConfig,
  /** Keys that stored secrets are encrypted with; the first one encrypts, the others are for what is not yet rotated. */
  SECRET_KEYS: parsedBy(parseKeyRing, '<name>:<base64 of at least 32 bytes>, or several separated by commas'),
  /** Servers that every DNS question goes to, host or host:port; without it the system's, and each zone's own. */
  DNS_SERVERS: list().optional(),
  /** Where identity is: host:port, or dns:///host:port. */
  IDENTITY_ADDRESS: z.string({ error: 'expected host:port' }).min(3),
  /** Where browsers reach the API: providers of mail accounts send people back there. */
  PUBLIC_URL: urlOf('http', 'https').default('http://localhost:8080'),
  ...mailConfig,
})

/** The settings of the messaging service. */
export type Config = z.infer<typeof schema>

/** Reads the settings. @throws {ConfigError} naming every bad variable */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  return loadConfig(schema, env)
}
