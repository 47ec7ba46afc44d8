// A relay in its own process, which outbox.test.ts kills. It publishes by appending ids to a file.
import { appendFileSync } from 'node:fs'
import { startRelay } from '../src/events/relay.ts'
import { connectStore } from '../src/tenancy/connection.ts'
import { quiet } from './store.ts'

const [dbName, file] = process.argv.slice(2) as [string, string]
const store = await connectStore({ url: process.env.MONGODB_URL!, dbName, logger: quiet })
startRelay({
  store,
  logger: quiet,
  batchSize: 7,
  pollMs: 1,
  idlePollMs: 1,
  leaseMs: 50,
  publish: async events => appendFileSync(file, events.map(({ id }) => `${id}\n`).join('')),
})
