import { runTask } from '@rollcall/runtime'
import { connectStore, storeSettings } from '@rollcall/store'
import { readConfig } from './config.ts'
import { createData } from './data.ts'
import { repairListCounts } from './lists/repair-counts.ts'

/** Counts the members of lists anew, should a count ever be wrong. Can run at any time, beside the service. */
await runTask({
  name: 'audience-repair',
  config: readConfig,
  async run(config, { logger, onStop }) {
    const store = await connectStore({ ...storeSettings(config), logger })
    onStop('store', store.close)
    const repairs = await repairListCounts(createData(store, logger))
    for (const repair of repairs) logger.warn(repair, 'counts of a list repaired')
    logger.info({ repaired: repairs.length }, 'lists counted')
  },
})
