import { type Document, serialize } from 'bson'
import { type Filter, matches, parseFilter, requiredConditions, valueAt } from './filters.ts'
import type { Command } from './wire.ts'

/** An index of a collection. */
export type Index = {
  name: string
  /** Fields and directions, in order. */
  key: Record<string, unknown>
  isUnique: boolean
  partialFilter: Filter | undefined
}

/** Returns an index from an entry of `listIndexes`. */
export function indexOf({ name, key, unique, partialFilterExpression: filter }: Document): Index {
  return { name, key, isUnique: unique === true, partialFilter: filter && parseFilter(filter) }
}

/** Reads matching documents as the command's transaction sees them. */
export type Read = (filter: Document, limit: number) => Promise<Document[]>

/**
 * Returns the unique values that a write puts into indexes, as text. An update costs a read, unless it changes no field
 * of a unique index. Updates by pipeline are taken as changing none.
 */
export async function uniqueValuesOf(command: Command, indexes: readonly Index[], read: Read): Promise<string[]> {
  const unique = indexes.filter(({ isUnique }) => isUnique)
  if (unique.length === 0) return []
  const written: Document[] = []
  for (const { filter, update, upsert, multi } of updatesOf(command)) {
    const changed = Object.keys(changesOf(update))
    if (!upsert && !unique.some(({ key }) => changed.some(path => path in key))) continue
    const found = await read(filter, multi ? 0 : 1)
    if (found.length > 0) written.push(...found.map(document => ({ ...document, ...changesOf(update) })))
    else if (upsert) written.push({ ...inserted(filter), ...update.$setOnInsert, ...changesOf(update) })
  }
  if (command.name === 'insert') written.push(...command.statements())
  return written.flatMap(document =>
    unique
      .filter(({ partialFilter }) => !partialFilter || matches(document, partialFilter))
      .map(index => textOf(command, index, document)),
  )
}

type Update = { filter: Document; update: Document; upsert: boolean; multi: boolean }

function updatesOf({ name, body, statements }: Command): Update[] {
  if (name === 'update') {
    return statements().map(({ q, u, upsert = false, multi = false }) => ({ filter: q, update: u, upsert, multi }))
  }
  const isUpdate = name === 'findAndModify' && body.update
  return isUpdate ? [{ filter: body.query, update: body.update, upsert: body.upsert ?? false, multi: false }] : []
}

/** Returns the values that an update sets, by path; undefined removes. */
function changesOf(update: Document): Document {
  if (Array.isArray(update)) return {}
  if (!Object.keys(update)[0]?.startsWith('$')) return update
  const removed = Object.keys(update.$unset ?? {}).map(path => [path, undefined])
  return { ...update.$set, ...Object.fromEntries(removed) }
}

/** Returns what an upsert that finds nothing inserts. */
function inserted(filter: Document): Document {
  const equalities = requiredConditions(parseFilter(filter)).filter(({ operator }) => operator === '$eq')
  return Object.fromEntries(equalities.map(({ path, value }) => [path, value]))
}

function textOf({ database, collection }: Command, { name, key }: Index, document: Document): string {
  const values = Object.keys(key).map(path => (path in document ? document[path] : valueAt(document, path)) ?? null)
  return `${database}.${collection} ${name} ${Buffer.from(serialize({ values })).toString('latin1')}`
}
