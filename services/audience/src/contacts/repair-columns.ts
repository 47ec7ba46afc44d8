import { type ColumnData, checkRowGroup, dueGroups, listsWithoutColumns, rewriteRowGroup } from '@rollcall/store'
import type { Data } from '../context.ts'
import { columnData } from './columns.job.ts'

/** A row group whose columns differed from its contacts. */
export type ColumnRepair = { organization: string; group: number; contacts: number }

/** How often a group is compared that the service rewrites meanwhile. */
const ATTEMPTS = 5

/**
 * Compares the columns of all organizations with their contacts and rewrites those that differ, and writes those that are
 * due. Safe while others write. Returns the corrections.
 */
export async function repairColumns(data: Data): Promise<ColumnRepair[]> {
  const repairs: ColumnRepair[] = []
  const { rowGroups } = data.collections.unscoped
  const missing = await listsWithoutColumns(data.store, rowGroups, 'contacts')
  const organizations = [...(await rowGroups.distinct('organization')), ...missing.map(({ _id }) => _id)]
  for (const organization of new Set(organizations.map(String))) {
    const columns = columnData(data, organization)
    const groups = await columns.rowGroups.find({}, { projection: { group: 1 }, sort: { group: 1 } })
    for (const { group } of groups) {
      const contacts = await repairGroup(columns, group)
      if (contacts > 0) repairs.push({ organization, group, contacts })
    }
    for (const group of await dueGroups(columns)) await rewriteRowGroup(columns, group)
  }
  return repairs
}

/** Returns the number of contacts whose values were wrong. */
async function repairGroup(columns: ColumnData, group: number): Promise<number> {
  let wrong: number[] | undefined
  for (let attempt = 0; attempt < ATTEMPTS && !wrong; attempt++) wrong = await checkRowGroup(columns, group)
  if (wrong && wrong.length > 0) await rewriteRowGroup(columns, group)
  return wrong?.length ?? 0
}
