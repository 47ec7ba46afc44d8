import { startMongod } from './proxy.ts'
import { createRecord } from './record.ts'
import { findingsOf, RULES } from './rules.ts'

/** Application names of the product's connections begin with it; tests connect without a name. */
const PRODUCT = 'rollcall '

/** The process of `startMongodProcess`: sends its URL, and the findings when it gets a message. */
const [target, conflictEvery] = process.argv.slice(2)
const record = createRecord()
const mongod = await startMongod({
  target: target!,
  conflictEvery: Number(conflictEvery),
  observe: (command, indexes, application) => application.startsWith(PRODUCT) && record.add(command, indexes),
})
process.send!(mongod.url)
process.once('message', () => process.send!(findingsOf(record.all(), RULES)))
process.once('disconnect', () => process.exit()) // the parent stops it, or has ended
