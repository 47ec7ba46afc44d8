import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { after, before, describe, it } from 'node:test'
import { createBus, topics } from '@rollcall/bus'
import { createLogger, type Event, pause } from '@rollcall/runtime'
import { eventually } from '@rollcall/testing/eventually'
import { jsonOf, startTestAudience, type TestAudience, testCaller } from '../test/audience.ts'

const logger = createLogger({ service: 'audience', level: 'silent' })

describe('the audience service', () => {
  let audience: TestAudience
  before(async () => {
    audience = await startTestAudience()
  })
  after(() => audience.stop())

  it('publishes the events of a contact on its topic, in order', async () => {
    const me = testCaller()
    const { caller } = me
    const created = audience.contacts.createContact({ email: 'one@example.com', tags: [] }, me)
    const { id } = await jsonOf<{ id: string }>(created)
    await audience.contacts.updateContact({ id, name: 'Two' }, me)
    await audience.contacts.blockContact({ id, reason: 'asked to' }, me)
    await audience.contacts.unblockContact({ id }, me)
    await audience.contacts.deleteContact({ id }, me)

    const brokers = process.env.KAFKA_BROKERS!.split(',')
    const bus = createBus({ brokers, clientId: 'test', logger, topicPrefix: `${audience.db.databaseName}.` })
    const events: Event[] = []
    const handle = async (event: Event) => void (event.subject === id && events.push(event))
    bus.consume({ group: 'test', topics: [topics.audience], handle })
    await eventually('five events arrive', () => events.length >= 5)
    await bus.close()

    assert.deepEqual(
      events.map(({ type }) => type.replace('contact.', '')),
      ['created', 'updated', 'blocked', 'unblocked', 'deleted'],
    )
    assert.ok(events.every(event => event.organization === caller.organizationId && event.source === 'audience'))
    assert.equal(new Set(events.map(event => event.id)).size, 5)
    const actor = { kind: 'user', id: caller.userId, name: 'User One' }
    assert.deepEqual(events[2]?.data, { contactId: id, reason: 'asked to', actor })
    assert.deepEqual(events[4]?.data, { contactId: id, email: 'one@example.com', actor })
  })

  it('answers calls in progress on SIGTERM, and exits with 0', async () => {
    const replica = await audience.replica()
    const rows = Array.from({ length: 500 }, (_, index) => ({
      row: index + 1,
      email: `c${index}@example.com`,
      name: '',
      attributes: {},
      tags: [],
      clearTags: false,
    }))
    const job = { jobId: 'a'.repeat(24), number: 0, duplicateStrategy: 'update' }
    const underWay = replica.batches.applyBatch({ ...job, tags: [], listIds: [], rows }, testCaller())
    await pause(50)
    const exit = replica.kill('SIGTERM')
    assert.equal((await underWay).outcomes.length, 500)
    assert.deepEqual(await exit, [0, null])
  })

  it('names every setting that is missing, and exits with 1', async () => {
    const main = new URL('main.ts', import.meta.url).pathname
    const child = spawn(process.execPath, [main], {
      env: { PATH: process.env.PATH },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let text = ''
    child.stderr.on('data', chunk => {
      text += chunk
    })
    assert.deepEqual(await once(child, 'exit'), [1, null])
    for (const name of ['MONGODB_URL', 'KAFKA_BROKERS', 'ASSERTION_KEY', 'ASSERTION_PUBLIC_KEYS', 'IDENTITY_ADDRESS'])
      assert.match(text, new RegExp(`${name} is missing`))
  })
})
