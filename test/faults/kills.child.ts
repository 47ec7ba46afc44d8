import { createServer } from 'node:http'
import { createBus } from '@rollcall/bus'
import { createLogger, pause } from '@rollcall/runtime'
import { MongoClient, ObjectId } from 'mongodb'

/**
 * The naive service that `kills.e2e.ts` shows to fail: POST stores a record, then publishes its event. It is nearly
 * always between the two, so that most kills hit there.
 */
const BETWEEN_MS = 200
const [name = '', port = '0'] = process.argv.slice(2)
const { KAFKA_BROKERS = '', MONGODB_URL = '' } = process.env
const mongo = await new MongoClient(MONGODB_URL).connect()
const things = mongo.db(name).collection('things')
const logger = createLogger({ service: 'child', level: 'silent' })
const bus = createBus({ brokers: KAFKA_BROKERS.split(','), clientId: 'child', logger, topicPrefix: `${name}.` })

async function make(): Promise<string> {
  const _id = new ObjectId()
  await things.insertOne({ _id })
  await pause(BETWEEN_MS * (1 + Math.random()))
  const time = new Date().toISOString()
  const about = { type: 'thing.created', source: 'audience', subject: String(_id), organization: 'a'.repeat(24), time }
  await bus.publish('audience.events', [{ id: String(_id), ...about, data: {} }])
  return String(_id)
}

createServer((request, response) => {
  const done = request.method === 'POST' ? make() : Promise.resolve('')
  done.then(
    id => response.end(id),
    () => response.writeHead(500).end(),
  )
}).listen(Number(port), '127.0.0.1')
