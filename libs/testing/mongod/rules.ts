import { EJSON } from 'bson'
import { isSubsetOf, matches, parseFilter } from './filters.ts'
import { conditionsOf, type Recorded } from './record.ts'
import type { Index } from './unique-values.ts'

/** A rule for what a service asks of MongoDB: the command, and what it would cost or break there. */
export type Rule = { name: string; find(command: Recorded): string | undefined }

/** Values of an `$in` at most, a block of positions: MongoDB reads the index once for each. */
const MAX_IN = 1024
const INTERVALS = ['$eq', '$in', '$lt', '$lte', '$gt', '$gte', '$type', '$regex', '$exists']

/** A query that has an index of its own can use it: the index's partial filter is implied, as MongoDB proves it. */
export const partialFiltersAreImplied: Rule = {
  name: 'partial filters are implied',
  find(command) {
    const { filter, indexes } = command
    const query = parseFilter(filter)
    const usable = indexes.filter(({ partialFilter }) => !partialFilter || isSubsetOf(query, partialFilter))
    const best = Math.max(0, ...usable.map(index => boundFields(command, index)))
    const missed = indexes.find(
      index => !usable.includes(index) && mayContain(command, index) && boundFields(command, index) > best,
    )
    return missed && `the partial filter of ${missed.name} is not implied`
  },
}

/**
 * A sort is held by an index behind the fields that the query fixes: otherwise every match is read and sorted. Lists may be
 * ordered by any field, so an aggregation without such an index is right, unless a unique one ends at its first field: then
 * the order ends there too.
 */
export const sortsAreHeld: Rule = {
  name: 'sorts are held by an index',
  find(command) {
    if (Object.keys(command.sort).length === 0) return undefined
    const query = parseFilter(command.filter)
    const usable = command.indexes.filter(({ partialFilter }) => !partialFilter || isSubsetOf(query, partialFilter))
    if (usable.some(index => holdsSort(command, index))) return undefined
    const first = Object.entries(command.sort).slice(0, 1)
    const isList = command.name === 'aggregate'
    const isUnique = usable.some(index => index.isUnique && endsAt(command, index, first))
    return isList && !isUnique ? undefined : 'no index holds the sort'
  },
}

/** The outbox is relayed at majority: what a dead primary takes with it must not have been published. */
export const outboxIsReadAtMajority: Rule = {
  name: 'the outbox is relayed at majority',
  find(command) {
    const isRelayed = command.collection === 'outbox' && command.name === 'find'
    const isUnsent = conditionsOf(command).some(({ path }) => path === 'sentAt')
    return isRelayed && isUnsent && command.readConcern.level !== 'majority'
      ? 'a read that may be rolled back'
      : undefined
  },
}

/** Where credentials are found, and the fields that find them. */
const CREDENTIALS: Record<string, readonly string[]> = { tokens: ['hash'], sessions: ['_id', 'user'] }

/**
 * Credentials are read so that a primary that was replaced and does not know cannot show a revoked one: linearizable, or at
 * majority and not before a time that the current primary gave.
 */
export const credentialsAreConfirmed: Rule = {
  name: 'credentials are read from a confirmed primary',
  find(command) {
    const { collection, name, inTransaction, readConcern } = command
    const paths = conditionsOf(command).map(({ path }) => path)
    const finds = CREDENTIALS[collection]?.every(path => paths.includes(path))
    const isConfirmed =
      readConcern.level === 'linearizable' || (readConcern.level === 'majority' && readConcern.afterClusterTime)
    return name === 'find' && finds && !inTransaction && !isConfirmed ? 'a read that may be stale' : undefined
  },
}

/** No list of values grows with the data. */
export const listsAreBounded: Rule = {
  name: 'lists of values are bounded',
  find(command) {
    const long = conditionsOf(command).find(
      ({ operator, value }) => operator === '$in' && (value as []).length > MAX_IN,
    )
    return long && `${(long.value as []).length} values of ${long.path}`
  },
}

/** The server ends a read whose client has given up. */
export const readsAreLimited: Rule = {
  name: 'reads have a limit of time on the server',
  find: ({ hasTimeLimit }) => (hasTimeLimit ? undefined : 'no maxTimeMS'),
}

/** Reads go to the primary; a driver with a direct connection says so by `primaryPreferred`. */
export const readsGoToPrimary: Rule = {
  name: 'reads go to the primary',
  find: ({ readPreference: mode }) =>
    ['primary', 'primaryPreferred'].includes(mode) ? undefined : `reads from ${mode}`,
}

/** Returns what commands break, a line for each rule and shape. */
export function findingsOf(record: readonly Recorded[], rules: readonly Rule[]): string[] {
  return rules.flatMap(({ name, find }) =>
    record.flatMap(command => {
      const finding = find(command)
      return finding ? `${name}: ${finding}: ${textOf(command)}` : []
    }),
  )
}

/** Returns the number of the index's first fields that the query bounds. */
function boundFields(command: Recorded, { key }: Index): number {
  const bounding = conditionsOf(command).filter(({ operator }) => INTERVALS.includes(operator))
  const bound = new Set(bounding.map(({ path }) => path))
  const fields = Object.keys(key)
  const free = fields.findIndex(field => !bound.has(field))
  return free < 0 ? fields.length : free
}

/** Whether the query's values are such as the index has. */
function mayContain(command: Recorded, { partialFilter }: Index): boolean {
  const equal = conditionsOf(command).filter(({ operator }) => operator === '$eq')
  const document = Object.fromEntries(equal.map(({ path, value }) => [path, value]))
  return !partialFilter || matches(document, partialFilter)
}

/** Whether the index has the sort's order behind fields with one value. */
function holdsSort(command: Recorded, { key }: Index): boolean {
  const fixed = fixedPaths(command)
  const ordered = (order: Record<string, unknown>) => Object.entries(order).filter(([field]) => !fixed.includes(field))
  const wanted = ordered(command.sort)
  const held = ordered(key).slice(0, wanted.length)
  const sameOrOpposite = wanted.map(([field, direction], at) =>
    held[at]?.[0] === field ? Number(held[at][1]) * Number(direction) : 0,
  )
  return sameOrOpposite.every(sign => sign === 1) || sameOrOpposite.every(sign => sign === -1)
}

/** Whether the index consists of fields with one value, and then this order. */
function endsAt(command: Recorded, index: Index, order: [string, unknown][]): boolean {
  const fixed = fixedPaths(command)
  const rest = Object.keys(index.key).filter(field => !fixed.includes(field))
  return rest.length === order.length && holdsSort({ ...command, sort: Object.fromEntries(order) }, index)
}

/** Returns the fields that the query restricts to one value. */
function fixedPaths(command: Recorded): string[] {
  const isSingle = ({ operator, value }: { operator: string; value: unknown }) =>
    operator === '$eq' || (operator === '$in' && (value as unknown[]).length === 1)
  return conditionsOf(command)
    .filter(isSingle)
    .map(({ path }) => path)
}

function textOf({ name, collection, filter, sort, readConcern, inTransaction }: Recorded): string {
  const values = EJSON.stringify(filter)
  const shown = values.length > 300 ? `${values.slice(0, 300)}…` : values
  return `${name} ${collection} ${shown} sort ${JSON.stringify(sort)} ${readConcern.level ?? 'local'}${inTransaction ? ' in a transaction' : ''}`
}

/** The rules that a run of the tests through the proxy checks. */
export const RULES: readonly Rule[] = [
  readsGoToPrimary,
  readsAreLimited,
  listsAreBounded,
  partialFiltersAreImplied,
  sortsAreHeld,
  outboxIsReadAtMajority,
  credentialsAreConfirmed,
]
