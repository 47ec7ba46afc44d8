import { defineJob, type LeaseJob, type LeaseSlice, type Outcome } from '@rollcall/jobs'
import {
  type ColumnData,
  type DueList,
  dueGroups,
  dueLists,
  listsWithoutColumns,
  rewriteRowGroup,
} from '@rollcall/store'
import type { Types } from 'mongoose'
import type { Data } from '../context.ts'
import { contactColumns, contactPositions } from './contact.model.ts'

/** How often to search for stale rows. */
const POLL_MS = 5000
/** How often to search for organizations without columns: those of an older release, or restored from a backup. */
const SEARCH_MS = 60_000
/** A slice ends after this time. */
const SLICE_MS = 1000

/**
 * Writes the columns of contacts, which answer filters (see `ListColumns` of the store). One replica at a time works on an
 * organization:
 *
 * 1. Find its row groups that were never written, have many stale rows, or have had some for minutes.
 * 2. Write them anew from the contacts, one after the other, each in a transaction of its own.
 * 3. Pause for as long as that took, so that a large organization takes half a core at most. Repeat until none is due.
 *
 * Exactness does not depend on this job: what it has not written yet is looked up in the contacts.
 */
export function columnsJob(data: Data, { pollMs = POLL_MS } = {}): LeaseJob<DueList> {
  const { store, collections } = data
  let searchAt = 0
  return defineJob<DueList>({
    name: 'columns',
    lease: { store },
    pollMs,
    async unfinished() {
      const due = await dueLists(collections.unscoped.staleRows)
      if (Date.now() < searchAt) return due
      const missing = await listsWithoutColumns(store, collections.unscoped.rowGroups, 'contacts')
      searchAt = Date.now() + SEARCH_MS
      return [...due, ...missing]
    },
    load: async item => ((await dueGroups(columnData(data, item._id))).length > 0 ? item : null),
    since: ({ since }) => since,
    run: ({ _id }, slice) => writeColumns(columnData(data, _id), slice),
  })
}

/** Rewrites groups for a while. */
async function writeColumns(data: ColumnData, { signal }: LeaseSlice): Promise<Outcome> {
  const startedAt = Date.now()
  for (const group of await dueGroups(data)) {
    signal.throwIfAborted()
    await rewriteRowGroup(data, group)
    if (Date.now() > startedAt + SLICE_MS) return Date.now() - startedAt
  }
  return 'done'
}

/** The columns of an organization's contacts. */
export function columnData({ store, collections }: Data, organization: Types.ObjectId | string): ColumnData {
  const { rowGroups, columnChunks, staleRows, contacts } = collections.of(organization)
  const positions = contactPositions({ store }, organization)
  return { store, rowGroups, columnChunks, staleRows, records: contacts, positions, fields: contactColumns }
}
