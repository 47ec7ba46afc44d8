import { createLogger, pause } from '@rollcall/runtime'
import { connectStore, rewriteRowGroup } from '@rollcall/store'
import { collections } from '../../services/audience/src/collections.ts'
import { columnData } from '../../services/audience/src/contacts/columns.job.ts'

// Rewrites the columns of an organization over and over, until it is killed.
const [dbName = '', organization = ''] = process.argv.slice(2)
const logger = createLogger({ service: 'audience', level: 'silent' })
const store = await connectStore({ url: process.env.MONGODB_URL!, dbName, logger })
const columns = columnData({ store, collections: collections(store), logger }, organization)
for (let group = 0; ; group = (group + 1) % 2) {
  await rewriteRowGroup(columns, group)
  process.stdout.write('.')
  await pause(5)
}
