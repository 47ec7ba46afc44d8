import { flag, list, whole } from '@rollcall/runtime'
import { z } from 'zod'
import type { BusOptions } from './bus.ts'

/**
 * The variables of every service on the bus. Spread it into the service's own schema, add the check `saslIsComplete`,
 * and pass the parsed values to `busSettings`.
 */
export const busConfig = {
  KAFKA_BROKERS: list(),
  KAFKA_TLS: flag().default(false),
  KAFKA_SASL: z.enum(['none', 'plain', 'scram-sha-256', 'scram-sha-512']).default('none'),
  KAFKA_USERNAME: z.string().default(''),
  KAFKA_PASSWORD: z.string().default(''),
  /** Partitions of topics that are created. */
  KAFKA_PARTITIONS: whole(1, 1000).default(6),
  /** Prefix of the names of topics and consumer groups. */
  TOPIC_PREFIX: z
    .string()
    .regex(/^[\w.-]*$/, { error: 'expected letters, digits, ".", "-" or "_"' })
    .default(''),
}

const busSchema = z.object(busConfig)

/** The parsed values of `busConfig`. */
export type BusConfig = z.infer<typeof busSchema>

/** Checks a schema with `busConfig`: SASL requires both a user name and a password. */
export function saslIsComplete({ value, issues }: z.core.ParsePayload<BusConfig>): void {
  if (value.KAFKA_SASL === 'none') return
  for (const name of ['KAFKA_USERNAME', 'KAFKA_PASSWORD'] as const) {
    if (value[name] !== '') continue
    issues.push({ code: 'custom', path: [name], message: 'expected when KAFKA_SASL is set', input: undefined })
  }
}

/** Returns the options of `createBus` that come from the environment. */
export function busSettings(
  config: BusConfig,
): Pick<BusOptions, 'brokers' | 'topicPrefix' | 'partitions' | 'ssl' | 'sasl'> {
  const { KAFKA_SASL: mechanism, KAFKA_USERNAME: username, KAFKA_PASSWORD: password } = config
  const settings = {
    brokers: config.KAFKA_BROKERS,
    topicPrefix: config.TOPIC_PREFIX,
    partitions: config.KAFKA_PARTITIONS,
    ssl: config.KAFKA_TLS,
  }
  if (mechanism === 'none') return settings
  return { ...settings, sasl: { mechanism, username, password } as NonNullable<BusOptions['sasl']> }
}
