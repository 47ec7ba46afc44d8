import type { Positions } from '../positions/positions.ts'
import type { Store } from '../tenancy/connection.ts'
import { readLimitsOf } from '../tenancy/read-limits.ts'
import type { Scope } from '../tenancy/scope.ts'
import type { ColumnFields } from './column-fields.ts'
import { countTexts, type TextCount } from './count-texts.ts'
import type { PatternMatcher } from './pattern-matcher.ts'
import type { ColumnChunk, RowGroup, StaleRows } from './row-group.model.ts'
import type { RowSet } from './row-set.ts'
import { type ColumnSearch, searchColumns } from './search.ts'

/**
 * The columns of a list with positions: what answers a filter for the first time without reading a million records.
 *
 * A row group is a range of 4096 positions. For each field that its records have, a document holds the values in the order
 * of positions, as a dictionary with codes. A filter is one pass over the columns that it names, in three-valued logic; the
 * rows that the columns cannot decide are looked up in the records.
 *
 * Columns are exact at any moment. Every transaction that changes records goes through their positions, which note the stale
 * rows in it (`noteChanges`). A search reads the notes before the columns and looks up stale rows in the records
 * (`searchColumns`). A rewrite reads the notes before the records, and deletes only those with the columns that it writes
 * (`rewriteRowGroup`). Groups from before a change by an older release, which notes nothing, are not used. Columns of a search are of one version in each group, so that no record is judged by the old value of
 * one field and the new value of another.
 */
export type ListColumns = {
  /** Finds the positions of the records that match a filter; undefined if columns do not help. */
  search(wanted: Pick<ColumnSearch, 'records' | 'filter' | 'unique'>): Promise<RowSet | undefined>
  /**
   * Counts the records that have each text of a field, or of its items. Throws `quota.too_many_pending` if the organization
   * already reads as much as it may.
   */
  countTexts(wanted: Pick<TextCount, 'records' | 'field'>): Promise<Map<string, number>>
}

/** The collections of columns in an organization. */
export type ColumnScopes = {
  rowGroups: Scope<RowGroup>
  columnChunks: Scope<ColumnChunk>
  staleRows: Scope<StaleRows>
}

/** Opens the columns of a list. */
export function listColumns(
  store: Store,
  { rowGroups, columnChunks, staleRows }: ColumnScopes,
  { positions, fields, matcher }: { positions: Positions; fields: ColumnFields; matcher: PatternMatcher },
): ListColumns {
  const data = { store, rowGroups, columnChunks, staleRows, positions, fields, matcher }
  return {
    search: wanted => searchColumns({ ...data, ...wanted }),
    countTexts: wanted =>
      readLimitsOf(store.connection).filtered(String(wanted.records.organization), () =>
        countTexts({ ...data, ...wanted }),
      ),
  }
}
