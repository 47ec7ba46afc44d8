import { Types } from 'mongoose'
import { rewriteRowGroup } from '../src/columns/rewrite.ts'
import { columnModels, peopleWithColumns } from './columns.ts'
import { people, testStore } from './store.ts'

// Rewrites the columns of an organization over and over, until it is killed.
const [dbName = '', organization = ''] = process.argv.slice(2)
const { store } = await testStore({ dbName })
columnModels(store)
const { data } = peopleWithColumns(store, await people(store), new Types.ObjectId(organization))
for (let count = 0; ; count++) {
  await rewriteRowGroup(data, count % 2)
  process.stdout.write('.')
}
