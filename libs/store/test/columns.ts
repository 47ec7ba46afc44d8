import type { Model, Types } from 'mongoose'
import { type ColumnFields, hasColumn } from '../src/columns/column-fields.ts'
import { listColumns } from '../src/columns/columns.ts'
import { createPatternMatcher } from '../src/columns/pattern-matcher.ts'
import type { ColumnData } from '../src/columns/rewrite.ts'
import { columnChunkSchema, rowGroupSchema, staleRowsSchema } from '../src/columns/row-group.model.ts'
import { noteChanges } from '../src/columns/stale-rows.ts'
import { positions } from '../src/positions/positions.ts'
import type { Store } from '../src/tenancy/connection.ts'
import { type Filter, insertOf, scoped } from '../src/tenancy/scope.ts'
import type { Person } from './store.ts'

/** For tests: the fields of a person that have columns. */
export const personColumns: ColumnFields = [
  '_id',
  'email',
  'emailKey',
  'name',
  'age',
  'active',
  'tags',
  'attributes.*',
  'friend',
  'seenAt',
  'createdAt',
]

/** For tests: declares the collections of columns. Before `migrate`. */
export function columnModels(store: Store) {
  return {
    rowGroups: store.model('rowGroups', rowGroupSchema),
    columnChunks: store.model('columnChunks', columnChunkSchema),
    staleRows: store.model('staleRows', staleRowsSchema),
  }
}

/** For tests: the matcher of patterns. */
export const matcher = createPatternMatcher()

/** For tests: people of an organization with columns. */
export function peopleWithColumns(
  store: Store,
  model: Model<Person>,
  organization: Types.ObjectId,
  { withoutNotes = false } = {},
) {
  const { rowGroups, columnChunks, staleRows } = columnModels(store)
  const records = scoped(model, organization)
  const list = positions(store, organization, 'people', withoutNotes ? {} : { onChanges: noteChanges })
  const data: ColumnData = {
    store,
    rowGroups: scoped(rowGroups, organization),
    columnChunks: scoped(columnChunks, organization),
    staleRows: scoped(staleRows, organization),
    records,
    positions: list,
    fields: personColumns,
  }
  const columns = listColumns(store, data, { ...data, matcher })
  return {
    records,
    list,
    data,
    columns,
    /** Adds people in a transaction. */
    async add(drafts: readonly Parameters<typeof records.insertOne>[0][]) {
      await store.transaction(async tx => {
        const { first } = await list.take(tx, drafts.length)
        const placed = drafts.map((draft, index) => ({ ...draft, position: first + index }))
        await records.bulkWrite(placed.map(insertOf), { tx })
      })
    },
    /** Takes positions and gives them back, as records do that are deleted. */
    async leaveHoles(count: number) {
      await store.transaction(async tx => {
        const { first } = await list.take(tx, count)
        await list.release(
          tx,
          Array.from({ length: count }, (_, index) => first + index),
        )
      })
    },
    /** Positions that columns find, and those that the database finds; the former undefined if columns do not help. */
    async both(filter: Filter) {
      const found = await columns.search({ records, filter, unique: ['_id', 'emailKey'] })
      const actual = await records.aggregate<{ position: number }>([
        { $match: filter },
        { $project: { _id: 0, position: 1 } },
      ])
      const expected = actual.map(({ position }) => position).sort((a, b) => b - a)
      return { found: found?.highest(expected.length + 1), expected }
    },
    /** How many people have each tag, by columns and by the database. */
    async tagCounts() {
      const found = await columns.countTexts({ records, field: 'tags' })
      const actual = await records.aggregate<{ _id: unknown; count: number }>([
        { $unwind: '$tags' },
        { $group: { _id: '$tags', count: { $sum: 1 } } },
      ])
      const texts = actual.filter(({ _id }) => typeof _id === 'string').map(({ _id, count }) => [_id, count] as const)
      return { found: new Map([...found].sort()), expected: new Map([...texts].sort()) }
    },
    hasColumn: (field: string) => hasColumn(personColumns, field),
  }
}
