import { runTask } from '@rollcall/runtime'
import { connectStore, storeSettings } from '@rollcall/store'
import { readConfig } from './config.ts'
import { createData } from './data.ts'
import { repairListCounts } from './lists/repair-counts.ts'
import { repairTotals } from './repair-totals.ts'

/** `rollcall-admin repair-counts`: counts contacts and the members of lists anew, should a count ever be wrong. Can run at any time, beside the service. */
await runTask({
  name: 'audience-repair',
  config: readConfig,
  async run(config, { logger, onStop }) {
    const store = await connectStore({ ...storeSettings(config), logger })
    onStop('store', store.close)
    const data = createData(store, logger)
    const totals = await repairTotals(data)
    for (const repair of totals) logger.warn(repair, 'total repaired')
    const counts = await repairListCounts(data)
    for (const repair of counts) logger.warn(repair, 'counts of a list repaired')
    logger.info({ repaired: totals.length + counts.length }, 'contacts and lists counted')
  },
})
