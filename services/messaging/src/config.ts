import { busConfig } from '@rollcall/bus'
import { parseKeyRing } from '@rollcall/credentials'
import { readAssertionKeys } from '@rollcall/rpc'
import { baseConfig, list, loadConfig, parsedBy, port, urlOf } from '@rollcall/runtime'
import { z } from 'zod'

const schema = z.object({
  ...baseConfig,
  ...busConfig,
  /** Port of the gRPC server. */
  PORT: port().default(0),
  MONGODB_URL: urlOf('mongodb', 'mongodb+srv'),
  MONGODB_DATABASE: z.string().default('rollcall_messaging'),
  /** Keys that services prove their callers with, the signing one first. */
  ASSERTION_KEY: parsedBy(readAssertionKeys, 'base64 of at least 32 bytes, or several separated by commas'),
  /** Keys that stored secrets are encrypted with; the first one encrypts, the others are for what is not yet rotated. */
  SECRET_KEYS: parsedBy(parseKeyRing, '<name>:<base64 of at least 32 bytes>, or several separated by commas'),
  /** Servers that every DNS question goes to, host or host:port; without it the system's, and each zone's own. */
  DNS_SERVERS: list().optional(),
})

/** The settings of the messaging service. */
export type Config = z.infer<typeof schema>

/** Reads the settings. @throws {ConfigError} naming every bad variable */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  return loadConfig(schema, env)
}
