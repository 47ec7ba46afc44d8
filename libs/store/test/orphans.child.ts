// A process that writes a record inside a transaction and then waits until orphans.test.ts kills it.
import { connectStore } from '../src/tenancy/connection.ts'
import { quiet } from './store.ts'

const [dbName] = process.argv.slice(2) as [string]
const store = await connectStore({ url: process.env.MONGODB_URL!, dbName, logger: quiet })
await store.transaction(async session => {
  await store.connection.collection('records').updateOne({}, { $set: { by: 'the dead' } }, { session })
  process.stdout.write('written\n')
  await new Promise(resolve => setTimeout(resolve, 60_000))
})
