import type { Document } from 'bson'
import { isPlain, kindOf, parseFilter, requiredConditions } from './filters.ts'
import type { Index } from './unique-values.ts'
import type { Command } from './wire.ts'

/** A command that selects documents, one for each shape that was seen. */
export type Recorded = {
  name: string
  collection: string
  filter: Document
  sort: Record<string, unknown>
  readConcern: Document
  readPreference: string
  hasTimeLimit: boolean
  inTransaction: boolean
  indexes: readonly Index[]
}

const READS = ['find', 'aggregate', 'count', 'distinct']

/** Keeps commands, one for each shape. */
export function createRecord(): { add(command: Command, indexes: readonly Index[]): void; all(): Recorded[] } {
  const byShape = new Map<string, Recorded>()
  return {
    add(command, indexes) {
      for (const recorded of recordedOf(command, indexes)) {
        const shape = shapeOf(recorded)
        if (!byShape.has(shape)) byShape.set(shape, recorded)
      }
    },
    all: () => [...byShape.values()],
  }
}

function recordedOf({ name, collection, body, statements }: Command, indexes: readonly Index[]): Recorded[] {
  const selections = selectionsOf(name, body, statements)
  return selections.map(({ filter, sort }) => ({
    name,
    collection,
    filter,
    sort,
    readConcern: body.readConcern ?? {},
    readPreference: body.$readPreference?.mode ?? 'primary',
    hasTimeLimit: !READS.includes(name) || body.maxTimeMS !== undefined,
    inTransaction: body.autocommit === false,
    indexes,
  }))
}

type Selection = { filter: Document; sort: Document }

function selectionsOf(name: string, body: Document, statements: () => Document[]): Selection[] {
  if (name === 'find') return [{ filter: body.filter ?? {}, sort: body.sort ?? {} }]
  if (name === 'count' || name === 'distinct') return [{ filter: body.query ?? {}, sort: {} }]
  if (name === 'findAndModify') return [{ filter: body.query ?? {}, sort: body.sort ?? {} }]
  if (name === 'update' || name === 'delete') return statements().map(({ q }) => ({ filter: q, sort: {} }))
  return name === 'aggregate' ? [selectionOf(body.pipeline)] : []
}

/** Returns what a pipeline selects at its beginning, which alone can use an index. */
function selectionOf(pipeline: Document[]): Selection {
  const filters: Document[] = []
  for (const stage of pipeline) {
    if (stage.$sort) return { filter: { $and: filters }, sort: stage.$sort }
    if (!stage.$match) break
    filters.push(stage.$match)
  }
  return { filter: filters.length > 0 ? { $and: filters } : {}, sort: {} }
}

function shapeOf({ indexes, filter, ...rest }: Recorded): string {
  const partial = indexes.flatMap(({ partialFilter }) => (partialFilter ? requiredConditions(partialFilter) : []))
  const decisive = partial.map(({ path }) => path)
  const readConcern = Object.entries(rest.readConcern).map(([name, value]) => (name === 'level' ? value : name))
  return JSON.stringify([{ ...rest, readConcern }, shapeOfFilter(filter, decisive), indexes.map(({ name }) => name)])
}

/** Returns the filter with types instead of values, except at paths of partial filters. */
function shapeOfFilter(filter: unknown, decisive: readonly string[], path = ''): unknown {
  if (Array.isArray(filter)) {
    const shapes = filter.slice(0, 20).map(value => shapeOfFilter(value, decisive, path))
    return [[...new Set(shapes.map(shape => JSON.stringify(shape)))].sort(), magnitudeOf(filter.length)]
  }
  if (isPlain(filter)) {
    return Object.fromEntries(
      Object.entries(filter).map(([name, value]) => [
        name,
        shapeOfFilter(value, decisive, name.startsWith('$') ? path : name),
      ]),
    )
  }
  const isSmall = typeof filter === 'boolean' || filter === null || (typeof filter === 'string' && filter.length < 20)
  return isSmall && decisive.includes(path) ? filter : kindOf(filter)
}

const magnitudeOf = (count: number) => Math.ceil(Math.log10(count + 1))

/** Returns the filter's conditions that every match fulfils. */
export function conditionsOf({ filter }: Recorded) {
  return requiredConditions(parseFilter(filter))
}
