import { readAssertionKeys } from '@rollcall/rpc'
import { baseConfig, list, loadConfig, parsedBy, port, urlOf } from '@rollcall/runtime'
import { z } from 'zod'

const schema = z.object({
  ...baseConfig,
  /** Port of the gRPC server. */
  PORT: port().default(0),
  MONGODB_URL: urlOf('mongodb', 'mongodb+srv'),
  MONGODB_DATABASE: z.string().default('rollcall_audience'),
  KAFKA_BROKERS: list(),
  TOPIC_PREFIX: z.string().default(''),
  /** Keys that services prove their callers with, the signing one first. */
  ASSERTION_KEY: parsedBy(readAssertionKeys, 'base64 of at least 32 bytes, or several separated by commas'),
})

/** The settings of the audience service. */
export type Config = z.infer<typeof schema>

/** Reads the settings. @throws {ConfigError} naming every bad variable */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  return loadConfig(schema, env)
}
