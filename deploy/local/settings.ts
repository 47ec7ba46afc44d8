import { join, resolve } from 'node:path'
import { baseConfig, list, loadConfig, port, urlOf } from '@rollcall/runtime'
import { z } from 'zod'

/** The repository's folder, to which relative folders of the settings refer. */
export const ROOT = join(import.meta.dirname, '..', '..')

const HOPS_OR_NETWORKS = /^([1-9]|10|[\da-f.:]+(\/\d{1,3})?(\s*,\s*[\da-f.:]+(\/\d{1,3})?)*)$/i

const schema = z.object({
  LOG_LEVEL: baseConfig.LOG_LEVEL,
  /** Port of the gateway. */
  PORT: port().default(8080),
  /** Folder of data, keys and logs. */
  DATA_DIR: z.string().default('.data'),
  /** Folder of installed programs. */
  CACHE_DIR: z.string().default('.cache'),
  BOOTSTRAP_EMAIL: z.email({ error: 'expected an email address' }).default('owner@rollcall.test'),
  BOOTSTRAP_PASSWORD: z.string().min(8, { error: 'expected at least 8 characters' }).optional(),
  REGISTRATION: z.enum(['open', 'closed'], { error: 'expected open or closed' }).default('open'),
  /** Whether the console is built and served. */
  CONSOLE: z.enum(['on', 'off'], { error: 'expected on or off' }).default('on'),
  /** Port for bounces over SMTP. 0: a free one. */
  BOUNCE_SMTP_PORT: port().default(0),
  DNS_SERVERS: list().optional(),
  DNS_ZONES: list().optional(),
  SMTP_URL: urlOf('smtp', 'smtps').optional(),
  PUBLIC_URL: urlOf('http', 'https').optional(),
  /** Another console than that of the gateway. */
  CONSOLE_URL: urlOf('http', 'https').optional(),
  /** The address that the services listen on; they read it themselves. */
  LISTEN_HOST: z.string().optional(),
  TRUST_PROXY: z
    .string()
    .regex(HOPS_OR_NETWORKS, { error: 'expected a number of hops, 1 to 10, or CIDR blocks separated by commas' })
    .optional(),
  MONGODB_URL: urlOf('mongodb', 'mongodb+srv').optional(),
  KAFKA_BROKERS: list().optional(),
  REDIS_CACHE_URL: urlOf('redis', 'rediss').optional(),
  REDIS_QUEUE_URL: urlOf('redis', 'rediss').optional(),
})

/** The settings of the local stack. */
export type Settings = z.infer<typeof schema>

/** Reads the settings, with absolute folders. @throws {ConfigError} names every invalid variable */
export function readSettings(env: NodeJS.ProcessEnv = process.env): Settings {
  const settings = loadConfig(schema, env)
  return { ...settings, DATA_DIR: resolve(ROOT, settings.DATA_DIR), CACHE_DIR: resolve(ROOT, settings.CACHE_DIR) }
}

/** Returns a warning if a stack with open registration is reachable from other machines, else undefined. */
export function registrationWarning({
  REGISTRATION,
  LISTEN_HOST,
  PUBLIC_URL,
  TRUST_PROXY,
}: Settings): string | undefined {
  const hosts = [LISTEN_HOST, PUBLIC_URL && new URL(PUBLIC_URL).hostname]
  const isExposed = TRUST_PROXY !== undefined || hosts.some(host => host !== undefined && !isLoopback(host))
  if (REGISTRATION === 'closed' || !isExposed) return undefined
  return 'anyone who reaches this host can register an organization: set REGISTRATION=closed to prevent that'
}

function isLoopback(host: string): boolean {
  return /^(localhost|127(\.\d+){3}|\[?::1\]?)$/.test(host)
}
