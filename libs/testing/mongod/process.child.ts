import { type Behaviour, startMongod } from './proxy.ts'
import { createRecord } from './record.ts'
import { findingsOf, RULES } from './rules.ts'

/** Application names of services begin with it. What tests ask of the database is not judged. */
const SERVICE = 'rollcall-'

/** The process of `startMongodProcess`: sends its URL, and the findings when it gets a message. */
const [target = '', behaviour = '{}'] = process.argv.slice(2)
const record = createRecord()
const mongod = await startMongod({
  ...(JSON.parse(behaviour) as Partial<Behaviour>),
  target,
  isSubject: application => application.startsWith(SERVICE),
  observe: record.add,
})
process.send!(mongod.url)
process.once('message', () => process.send!(findingsOf(record.all(), RULES)))
process.once('disconnect', () => process.exit()) // the parent stops it, or has ended
