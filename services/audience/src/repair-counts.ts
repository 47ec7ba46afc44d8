import { repairColumns } from './contacts/repair-columns.ts'
import { repairGrowth } from './growth/repair-growth.ts'
import { repairListCounts } from './lists/repair-counts.ts'
import { repairTotals } from './repair-totals.ts'
import { service } from './service.ts'

/** A large list takes longer to count than a request may take. */
const settings = { MONGODB_TIMEOUT_MS: 60_000 }

/**
 * `rollcall-admin repair-counts`: recounts contacts, list members and growth, compares columns, and corrects
 * what is wrong. Safe while the service runs.
 */
await service.runTask(
  'repair',
  async ({ store, collections, lifecycle: { logger } }) => {
    const data = { store, collections, logger }
    const totals = await repairTotals(data)
    for (const repair of totals) logger.warn(repair, 'total repaired')
    const counts = await repairListCounts(data)
    for (const repair of counts) logger.warn(repair, 'counts of a list repaired')
    const growth = await repairGrowth(data)
    for (const repair of growth) logger.warn(repair, 'growth repaired')
    const columns = await repairColumns(data)
    for (const repair of columns) logger.warn(repair, 'columns repaired')
    const repaired = totals.length + counts.length + growth.length + columns.length
    logger.info({ repaired }, 'contacts and lists counted')
  },
  settings,
)
