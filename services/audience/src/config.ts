import { busConfig, saslIsComplete } from '@rollcall/bus'
import { type EventContext, eventPublishers } from '@rollcall/contract'
import { parseHashKeys } from '@rollcall/credentials'
import { address, rpcServerConfig } from '@rollcall/rpc'
import { baseConfig, loadConfig, parsedBy, urlOf } from '@rollcall/runtime'
import { storeConfig } from '@rollcall/store'
import { z } from 'zod'

type AddressVariable = `${Uppercase<EventContext>}_ADDRESS`

/** Returns the variable with the address of a service. */
export function addressVariable(service: EventContext): AddressVariable {
  return `${service.toUpperCase() as Uppercase<EventContext>}_ADDRESS`
}

const addresses = Object.fromEntries(eventPublishers.map(name => [addressVariable(name), address()])) as Record<
  AddressVariable,
  ReturnType<typeof address>
>

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
    /** Addresses of all services: each shows and erases what it holds of a contact. */
    ...addresses,
    /** Redis and prefix of the answers that the gateway keeps for an Idempotency-Key: erasing a contact erases them there. */
    REDIS_QUEUE_URL: urlOf('redis', 'rediss'),
    IDEMPOTENCY_PREFIX: z.string().default('idempotency:'),
    /** Keys to hash erased addresses that had opted out, the current one first. */
    ERASURE_KEYS: parsedBy(parseHashKeys, '<name>:<base64 of at least 32 bytes>, or several separated by commas'),
  })
  .check(saslIsComplete)

/** The settings of the audience service. */
export type Config = z.infer<typeof schema>

/** Reads the settings. @throws {ConfigError} naming every bad variable */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  return loadConfig(schema, env)
}
