import { readAssertionKeys } from '@rollcall/rpc'
import { baseConfig, list, loadConfig, port, urlOf } from '@rollcall/runtime'
import { z } from 'zod'

const keysExpected = 'expected base64 of at least 32 bytes, or several separated by commas'

const schema = z.object({
  ...baseConfig,
  /** Port of the gRPC server. */
  PORT: port().default(0),
  MONGODB_URL: urlOf('mongodb', 'mongodb\\+srv'),
  MONGODB_DATABASE: z.string().default('rollcall_audience'),
  KAFKA_BROKERS: list(),
  TOPIC_PREFIX: z.string().default(''),
  /** Keys that services prove their callers with, the signing one first. */
  ASSERTION_KEY: z.string({ error: keysExpected }).transform((text, context) => {
    try {
      return readAssertionKeys(text)
    } catch {
      context.issues.push({ code: 'custom', message: keysExpected, input: undefined }) // never the value
      return z.NEVER
    }
  }),
})

/** The settings of the audience service. */
export type Config = z.infer<typeof schema>

/** Reads the settings. @throws {ConfigError} naming every bad variable */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  return loadConfig(schema, env)
}
