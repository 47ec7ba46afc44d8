export { storeConfig, storeSettings } from './config.ts'
export { connectStore, type Store, type StoreOptions } from './connection.ts'
export { type CounterKey, moveCounter, readCounter, repairCounter } from './counters.ts'
export { clampLimit, clampPage, envelope, type Page } from './envelope.ts'
export { isDuplicate, isOutOfTime, startAgain, toStoreError } from './errors.ts'
export { type FieldSpec, type FieldTable, type FieldType, invalidParameter } from './fields.ts'
export { parseFilter } from './filter.ts'
export { groupWrites, type WriteGroup } from './grouped.ts'
export { consumeOnce } from './inbox.ts'
export { createLease, type Lease } from './lease.ts'
export {
  type Listed,
  type ListOptions,
  type ListQuery,
  listRecords,
  type ParsedList,
  parseList,
  runList,
  runnable,
} from './list.ts'
export { createMatchMemory, type Match, type MatchMemory } from './matches.ts'
export { type Migration, migrate } from './migrate.ts'
export { addEvents } from './outbox.ts'
export { type Expand, type PopulateMap, parsePopulate, personReference, type Reference, reference } from './populate.ts'
export { organizationsWith, type Positions, positions } from './positions.ts'
export { presenter } from './present.ts'
export { type Project, parseProjection } from './projection.ts'
export { createQueue, type Queue } from './queue.ts'
export { type Quota, requireRoom } from './quota.ts'
export { createReadLimits, READ_MS, type ReadLimitOptions } from './read-limits.ts'
export { type Relay, type RelayOptions, startRelay } from './relay.ts'
export {
  type BulkOperation,
  type Draft,
  type Filter,
  objectId,
  type Scope,
  type SortOrder,
  scoped,
} from './scope.ts'
export { parseSort, withTieBreak } from './sort.ts'
export type { TransactionOptions } from './transaction.ts'
