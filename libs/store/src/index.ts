export { checkRowGroup } from './columns/check.ts'
export type { ColumnFields } from './columns/column-fields.ts'
export { type ColumnScopes, type ListColumns, listColumns } from './columns/columns.ts'
export { type DueList, dueGroups, dueLists, listsWithoutColumns } from './columns/due-groups.ts'
export { createPatternMatcher, type PatternMatcher } from './columns/pattern-matcher.ts'
export { type ColumnData, rewriteRowGroup } from './columns/rewrite.ts'
export {
  type ColumnChunk,
  columnChunkSchema,
  type RowGroup,
  rowGroupSchema,
  type StaleRows,
  staleRowsSchema,
} from './columns/row-group.model.ts'
export { noteChanges } from './columns/stale-rows.ts'
export { type Hold, holdSchema, placeHold, releaseHold, untilAllReleased, untilReleased } from './coordination/holds.ts'
export { createLease, type Lease, LeaseLost } from './coordination/lease.ts'
export { type Migration, migrate } from './coordination/migrate.ts'
export { changedFields, changesBetween, type FieldChange } from './events/changed-fields.ts'
export { type Aggregate, event, type OutgoingEvent, type Serializable } from './events/event.ts'
export { createInbox, type Inbox } from './events/inbox.ts'
export { addEvents, eraseSentEvents } from './events/outbox.ts'
export { type Relay, type RelayOptions, startRelay } from './events/relay.ts'
export { documentReader, int32At, numberAt, timeAt } from './positions/bson-fields.ts'
export { type CounterKey, incrementCounter, readCounter, repairCounter } from './positions/counters.ts'
export { createMatchMemory, type Match, type MatchMemory } from './positions/matches.ts'
export { organizationsWith, type Positions, positions } from './positions/positions.ts'
export { envelope, type Page } from './query/envelope.ts'
export { type FieldFinder, fieldFinder } from './query/field-finder.ts'
export { type FieldSpec, type FieldTable, type FieldType, invalidParameter } from './query/fields.ts'
export { parseFilter } from './query/filter.ts'
export {
  countRecords,
  type Listed,
  type ListOptions,
  listRawRecords,
  listRecords,
  type ParsedList,
  parseList,
  runList,
  runnable,
} from './query/list.ts'
export {
  type Expand,
  type PopulateMap,
  parsePopulate,
  personReference,
  type Reference,
  reference,
} from './query/populate.ts'
export { presenter } from './query/present.ts'
export { type Project, parseProjection } from './query/projection.ts'
export { type RecordWriter, recordChunks } from './query/record-chunks.ts'
export { parseSort, withTieBreak } from './query/sort.ts'
export { copyBytes, isDate, writeIsoDate, writeNumber } from './query/write-bytes.ts'
export {
  type Collections,
  type DefinedCollections,
  defineCollections,
  type Scopes,
  type Unscoped,
} from './tenancy/collections.ts'
export { type StoreConfig, storeConfig, storeSettings } from './tenancy/config.ts'
export { connectStore, type Store, type StoreOptions } from './tenancy/connection.ts'
export { isDuplicate, isOutOfTime, retryTransaction, toStoreError } from './tenancy/errors.ts'
export { groupWrites, type WriteGroup } from './tenancy/grouped.ts'
export { createKeyedMutex, type KeyedMutex } from './tenancy/keyed-mutex.ts'
export { type Quota, requireRoom } from './tenancy/quota.ts'
export type { RawRecords } from './tenancy/raw-records.ts'
export { createReadLimits, READ_MS, type ReadLimitOptions } from './tenancy/read-limits.ts'
export {
  type BulkOperation,
  type Draft,
  type Filter,
  insertOf,
  objectId,
  type Scope,
  type SortOrder,
  scoped,
} from './tenancy/scope.ts'
export type { TransactionOptions } from './tenancy/transaction.ts'
