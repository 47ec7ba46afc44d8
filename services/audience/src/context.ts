import { type EventContext, eventPublishers } from '@rollcall/contract'
import { connectCacheRedis, createSecretHashers, type SecretHasher } from '@rollcall/credentials'
import type { LeaseJob } from '@rollcall/jobs'
import { type Client, type Connection, connect, rpcSettings } from '@rollcall/rpc'
import type { Logger } from '@rollcall/runtime'
import type { Base } from '@rollcall/service'
import {
  createMatchMemory,
  createPatternMatcher,
  type DueList,
  type MatchMemory,
  type PatternMatcher,
  type Store,
} from '@rollcall/store'
import { type DropValuesJob, dropValuesJob } from './attributes/drop-values.job.ts'
import { bulkJob } from './bulk/bulk.job.ts'
import type { BulkJob } from './bulk/bulk-job.model.ts'
import type { Collections } from './collections.ts'
import { addressVariable, type Config } from './config.ts'
import { columnsJob } from './contacts/columns.job.ts'
import { dropMembersJob } from './lists/drop-members.job.ts'
import type { ListJob } from './lists/list-job.model.ts'
import { type Erasers, erasersOf, type People } from './people/erasers.ts'

/** The audience's data and logger. */
export type Data = { store: Store; collections: Collections; logger: Logger }

/** What adding contacts needs besides: the hasher of erased addresses that had opted out. */
export type Adding = Data & { addressHasher: SecretHasher }

/** The dependencies of the handlers. */
export type Context = Adding & {
  dropValuesJob: DropValuesJob
  /** Job that drops the members of deleted lists. */
  dropMembersJob: LeaseJob<ListJob>
  /** Job that changes and deletes contacts in bulk. */
  bulkJob: LeaseJob<BulkJob>
  /** Cached match counts of contact filters. Every write of a contact also writes its positions, which invalidates them. */
  matches: MatchMemory
  /** Matches patterns of filters in a thread of its own. */
  patterns: PatternMatcher
  /** Job that writes the columns of contacts. */
  columnsJob: LeaseJob<DueList>
  /** What each service holds of people. */
  people: People
  /** Where people are erased. */
  erasers: Erasers
  /** Looks up the accounts of an organization. */
  directory: Client<'rollcall.identity.v1.Directory'>
  /** Tells which campaigns need a list or a segment. */
  uses: Client<'rollcall.campaigns.v1.Uses'>
  limits: Limits
}

/** How many records of a kind an organization can have. */
export type Limits = { lists: number; segments: number; attributes: number }

/** Creates the context of the service, with its connections to all services. */
export function createContext({ config, store, collections, lifecycle }: Base<Config, Collections>): Context {
  const connections = Object.fromEntries(
    eventPublishers.map(name => {
      const connection = connect({ ...rpcSettings(config), address: config[addressVariable(name)] })
      lifecycle.onStop(`connection to ${name}`, async () => connection.close())
      return [name, connection]
    }),
  ) as Record<EventContext, Connection>
  const people = Object.fromEntries(
    Object.entries(connections).map(([name, connection]) => [name, connection.client('rollcall.people.v1.People')]),
  ) as People
  const redis = connectCacheRedis({
    url: config.REDIS_QUEUE_URL,
    onError: err => lifecycle.logger.warn({ err }, 'Redis unavailable, kept answers cannot be erased'),
  })
  lifecycle.onStop('redis', async () => redis.disconnect())
  const erasers = erasersOf(people, { redis, prefix: config.IDEMPOTENCY_PREFIX })
  const addressHasher = createSecretHashers(config.ERASURE_KEYS)['erased-address']
  const data = { store, collections, logger: lifecycle.logger, addressHasher }
  return {
    ...data,
    people,
    erasers,
    dropValuesJob: dropValuesJob(data),
    dropMembersJob: dropMembersJob(data),
    bulkJob: bulkJob(data, erasers),
    matches: createMatchMemory(),
    patterns: createPatternMatcher(),
    columnsJob: columnsJob(data),
    directory: connections.identity.client('rollcall.identity.v1.Directory'),
    uses: connections.campaigns.client('rollcall.campaigns.v1.Uses'),
    limits: { lists: config.MAX_LISTS, segments: config.MAX_SEGMENTS, attributes: config.MAX_ATTRIBUTES },
  }
}
