import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createMetrics, type Event } from '@rollcall/runtime'
import { eventually } from '@rollcall/testing/eventually'
import { Types } from 'mongoose'
import { draft, newOrganization, people, quiet, recordingStore, testStore } from '../../test/store.ts'
import { createLease } from '../coordination/lease.ts'
import { migrate } from '../coordination/migrate.ts'
import type { Store } from '../tenancy/connection.ts'
import { scoped } from '../tenancy/scope.ts'
import { event as eventOf, type OutgoingEvent } from './event.ts'
import { createInbox } from './inbox.ts'
import { addEvents } from './outbox.ts'
import { startRelay } from './relay.ts'

const organization = newOrganization()
const actor = { kind: 'system', id: null, name: 'test' } as const
const records = new Map<string, Types.ObjectId>()

/** An event of the record that a test calls by this name; its id says which one. */
function event(name: string, number: number): OutgoingEvent {
  const _id = records.get(name) ?? new Types.ObjectId()
  records.set(name, _id)
  const made = eventOf('contact.unblocked', { _id, organization }, { contactId: _id, actor })
  return { ...made, id: `${name}-${number}` }
}

async function freshStore() {
  const made = await testStore()
  await migrate(made.store, quiet)
  return made
}

const until = (condition: () => boolean | Promise<boolean>) =>
  eventually('the relay is done', condition, { withinMs: 60_000, everyMs: 10 })

const unsent = (store: Store) => store.connection.collection('outbox').countDocuments({ sentAt: null })

describe('the outbox', () => {
  let store: Store
  let drop: () => Promise<void>
  before(async () => {
    ;({ store, drop } = await freshStore())
  })
  after(() => drop())

  it('holds an event if and only if its change was committed', async () => {
    const mine = scoped(await people(store), organization)
    const failing = store.transaction(async tx => {
      await mine.insertOne(draft(1), { tx })
      await addEvents(tx, [event('never', 1)])
      throw new Error('changed my mind')
    })
    await assert.rejects(failing, /changed my mind/)
    assert.equal(await unsent(store), 0)
    await store.transaction(tx => addEvents(tx, []))
    await store.transaction(tx => addEvents(tx, [event('a', 1), event('a', 2)]))
    assert.equal(await unsent(store), 1)
  })

  it('refuses an event whose data is not as declared, and the change with it', async () => {
    const mine = scoped(await people(store), organization)
    const add = (data: object) =>
      store.transaction(async tx => {
        await mine.insertOne(draft(7), { tx })
        await addEvents(tx, [{ ...event('refused', 1), data: { contactId: '1', actor, ...data } }])
      })
    await assert.rejects(add({ contactId: 1 }), /contact.unblocked is not as declared: .*contactId: must be a string/)
    await assert.rejects(add({ actor: undefined }), /missing field -> actor/)
    await assert.rejects(add({ actor: { ...actor, kind: 'nobody' } }), /actor.kind: must be one of/)
    await assert.rejects(add({ reason: 'because' }), /extra field -> reason/)
    assert.equal(await mine.count({}), 0)
  })

  it('keeps dates and ids as the JSON that is published', async () => {
    const at = new Date()
    const [contactId, listId] = [newOrganization(), newOrganization()]
    const data = { contactId, listId, source: 'api', at } as const
    const made = eventOf('triggers.audience.added_to_list', { _id: contactId, organization }, data, at)
    await store.transaction(tx => addEvents(tx, [made]))
    const stored = await store.connection.collection('outbox').findOneAndDelete({ 'event.id': made.id })
    const json = { contactId: String(contactId), listId: String(listId), source: 'api', at: at.toISOString() }
    assert.equal(JSON.stringify(stored?.event.data), JSON.stringify(json))
    assert.deepEqual(
      [stored?.event.source, stored?.event.subject, stored?.event.time],
      ['audience', String(contactId), at.toISOString()],
    )
  })

  it('takes events that are too large for one document together', async () => {
    const reason = 'x'.repeat(2 ** 20)
    const large = Array.from({ length: 18 }, (_, number) => {
      const made = event('l', number)
      return { ...made, type: 'contact.blocked' as const, data: { contactId: '1', actor, reason } }
    })
    await store.transaction(tx => addEvents(tx, large))
    const published: string[] = []
    const publish = async (events: Event[]) => void published.push(...events.map(({ id }) => id))
    await startRelay({ store, publish, logger: quiet }).stop()
    assert.deepEqual(
      published.slice(-large.length),
      large.map(({ id }) => id),
    )
    await store.connection.collection('outbox').deleteMany({})
  })

  it('leaves out the changes of an event that is too large for a message, and refuses it if that is not enough', async () => {
    const text = '漢'.repeat(3 * 2 ** 20) // 9 MiB of UTF-8, and fewer characters than a message has bytes
    const update = (data: object) => {
      const changed = { contactId: '1', changed: ['name'], changes: { name: { from: text, to: '' } }, actor, ...data }
      return store.transaction(tx =>
        addEvents(tx, [{ ...event('h', 1), type: 'contact.updated' as const, data: changed }]),
      )
    }
    await update({})
    const published: Event[] = []
    await startRelay({ store, publish: async events => void published.push(...events), logger: quiet }).stop()
    const { changed, changes } = published.find(({ id }) => id === 'h-1')!.data
    assert.deepEqual([changed, Object.keys(changes as object)], [['name'], []])
    await assert.rejects(update({ changed: [text] }), /contact.updated is too large to be published/)
    await store.connection.collection('outbox').deleteMany({})
  })

  it('is published in batches of about 8 MiB, however few events that is', async () => {
    const reason = 'x'.repeat(2 ** 19)
    const data = { contactId: '1', actor, reason }
    for (let number = 0; number < 40; number++) {
      const large = { ...event('s', number), type: 'contact.blocked' as const, data }
      await store.transaction(tx => addEvents(tx, [large]))
    }
    const sizes: number[] = []
    const publish = async (events: Event[]) => void sizes.push(JSON.stringify(events).length)
    await startRelay({ store, publish, logger: quiet }).stop()
    const whole = sizes.filter(size => size > 2 ** 23)
    assert.equal(whole.length, 2, `batches of ${sizes}`)
    assert.ok(Math.max(...whole) < 2 ** 23 + 2 ** 20, `batches of ${sizes}`)
    await store.connection.collection('outbox').deleteMany({})
  })

  it('takes many events at once', async () => {
    const many = Array.from({ length: 1203 }, (_, number) => event('m', number))
    await store.transaction(tx => addEvents(tx, many))
    const published: string[] = []
    const publish = async (events: Event[]) => void published.push(...events.map(({ id }) => id))
    await startRelay({ store, publish, logger: quiet, batchSize: 100 }).stop()
    assert.deepEqual(
      published.slice(-many.length),
      many.map(({ id }) => id),
    )
    await store.connection.collection('outbox').deleteMany({})
    await store.transaction(tx => addEvents(tx, [event('a', 1), event('a', 2)]))
  })

  it('is published in order, again where that failed, and the rest before the stop', async () => {
    const metrics = createMetrics('test')
    const published: string[] = []
    let failures = 1
    const publish = async (events: Event[]) => {
      if (failures-- > 0) throw new Error('the broker is away')
      published.push(...events.map(({ id }) => id))
    }
    const relay = startRelay({ store, publish, logger: quiet, metrics, batchSize: 3, pollMs: 10 })
    await until(() => published.length === 2)
    await until(async () => (await unsent(store)) === 0)
    for (const number of [3, 4, 5, 6, 7, 8, 9]) await store.transaction(tx => addEvents(tx, [event('a', number)]))
    await relay.stop()
    assert.deepEqual(
      published,
      [1, 2, 3, 4, 5, 6, 7, 8, 9].map(number => `a-${number}`),
    )
    assert.equal(await unsent(store), 0)
    const text = await metrics.registry.metrics()
    assert.match(text, /rollcall_outbox_published_total\{.*\} 9/)
    assert.match(text, /rollcall_outbox_lag_seconds/)
  })

  it('is published by one replica at a time; another one takes over', async () => {
    const published: string[] = []
    let running = 0
    const publish = async (events: Event[]) => {
      assert.equal(++running, 1, 'two at once')
      await sleep(5)
      published.push(...events.map(({ id }) => id))
      running--
    }
    const relays = [1, 2, 3].map(() =>
      startRelay({ store, publish, logger: quiet, batchSize: 2, pollMs: 5, idlePollMs: 5 }),
    )
    for (let number = 0; number < 60; number++) {
      await store.transaction(tx => addEvents(tx, [event('b', number)]))
      if (number === 30) await relays[0]!.stop()
    }
    await until(() => published.length >= 60)
    await Promise.all(relays.map(relay => relay.stop()))
    assert.deepEqual(
      published,
      Array.from({ length: 60 }, (_, number) => `b-${number}`),
    )
  })
})

describe('a relay', () => {
  it('is woken by a commit, not by a transaction that is rolled back', async () => {
    const { store, drop, sent } = await recordingStore()
    await migrate(store, quiet)
    const published: string[] = []
    const publish = async (events: Event[]) => void published.push(...events.map(({ id }) => id))
    const relay = startRelay({ store, publish, logger: quiet, idlePollMs: 3_600_000 })
    await until(() => sent('find', 'outbox').length === 1)
    const refused = store.transaction(async tx => {
      await addEvents(tx, [event('a', 1)])
      throw new Error('refused')
    })
    await assert.rejects(refused, /refused/)
    assert.equal(sent('find', 'outbox').length, 1)
    await store.transaction(tx => addEvents(tx, [event('a', 2)]))
    await until(() => published.length > 0)
    assert.deepEqual(published, ['a-2'])
    await relay.stop()
    await drop()
  })

  it('reads only events that no failover rolls back', async () => {
    const { store, drop, sent } = await recordingStore()
    await migrate(store, quiet)
    await store.transaction(tx => addEvents(tx, [event('a', 1)]))
    const published: Event[] = []
    await startRelay({ store, publish: async events => void published.push(...events), logger: quiet }).stop()
    assert.equal(published.length, 1)
    const reads = sent('find', 'outbox')
    assert.ok(reads.length > 0)
    for (const { readConcern } of reads) assert.equal(readConcern?.level, 'majority')
    await drop()
  })
})

describe('a relay beside the one with the lease', () => {
  it('reads no events', async () => {
    const { store, drop, sent } = await recordingStore()
    await migrate(store, quiet)
    const other = createLease(store, 'outbox', 'other', 60_000)
    await other.acquire()
    await store.transaction(tx => addEvents(tx, [event('a', 1), event('a', 2)]))
    const publish = async () => assert.fail('published')
    await startRelay({ store, publish, logger: quiet }).stop()
    const reads = sent('find', 'outbox')
    assert.ok(reads.length > 0)
    for (const { limit, projection } of reads) assert.deepEqual([limit, projection], [1, { at: 1, _id: 0 }])
    await drop()
  })
})

describe('a relay that is killed at any moment', () => {
  it('loses nothing and keeps the order of each subject', async () => {
    const { store, drop } = await freshStore()
    const folder = mkdtempSync(join(tmpdir(), 'relay-'))
    const log = join(folder, 'published')
    writeFileSync(log, '')
    const subjects = ['x', 'y', 'z']
    const perSubject = 150
    let relay: ChildProcess | undefined
    try {
      const produce = async () => {
        for (let number = 0; number < perSubject; number++) {
          await store.transaction(tx =>
            addEvents(
              tx,
              subjects.map(subject => event(subject, number)),
            ),
          )
        }
      }
      let isProduced = false
      const produced = produce().finally(() => {
        isProduced = true
      })
      let kills = 0
      while (!isProduced || (await unsent(store)) > 0) {
        relay = spawn(
          process.execPath,
          [join(import.meta.dirname, '../../test/relay.child.ts'), store.connection.name, log],
          {
            stdio: 'ignore',
          },
        )
        const ended = new Promise(resolve => relay!.once('exit', resolve))
        const size = readFileSync(log).length
        await until(() => readFileSync(log).length > size || isProduced) // not before it does something
        await sleep(Math.random() * 60)
        if (kills < 8) {
          kills++
          relay.kill('SIGKILL')
        } else {
          await until(async () => isProduced && (await unsent(store)) === 0)
          relay.kill('SIGKILL')
        }
        await ended
      }
      await produced
      assert.ok(kills >= 3, `killed ${kills} times`)

      const lines = readFileSync(log, 'utf8').split('\n').filter(Boolean)
      for (const subject of subjects) {
        const first = [...new Set(lines.filter(line => line.startsWith(`${subject}-`)))]
        assert.deepEqual(
          first,
          Array.from({ length: perSubject }, (_, number) => `${subject}-${number}`),
        )
      }
    } finally {
      relay?.kill('SIGKILL')
      rmSync(folder, { recursive: true })
      await drop()
    }
  })
})

describe('the inbox', () => {
  it('applies events together, each once, also where some were applied before', async () => {
    const { store, drop } = await freshStore()
    const inbox = createInbox(store)
    const applied: string[] = []
    const raise = (...ids: string[]) =>
      inbox.consumeOnce(
        'c',
        ids.map(id => ({ id })),
        async (_tx, events) => void applied.push(events.map(({ id }) => id).join('')),
      )
    try {
      assert.equal(await raise('a', 'b', 'a'), 2)
      assert.equal(await raise('b', 'c', 'a', 'd'), 2)
      assert.equal(await raise('c', 'd'), 0)
      assert.deepEqual(applied, ['ab', 'cd'])
    } finally {
      await drop()
    }
  })

  it('applies an event once for each consumer, whatever happens', async () => {
    const { store, drop } = await freshStore()
    const mine = scoped(await people(store), newOrganization())
    const inbox = createInbox(store)
    const { _id } = await mine.insertOne(draft(1, { age: 0 }))
    const raise = (consumer: string, id: string, fail = false) =>
      inbox.consumeOnce(consumer, [{ id }], async tx => {
        await mine.updateOne({ _id }, { $inc: { age: 1 } }, { tx })
        if (fail) throw new Error('failed after its effect')
      })
    try {
      await assert.rejects(raise('c', '1', true), /failed after its effect/)
      assert.equal((await mine.findOne({ _id }))?.age, 0)
      const deliveries = await Promise.all(Array.from({ length: 8 }, () => raise('c', '1')))
      assert.deepEqual(deliveries.filter(Boolean), [1])
      assert.equal(await raise('c', '1'), 0)
      assert.equal(await raise('d', '1'), 1)
      assert.equal(await raise('c', '2'), 1)
      assert.equal((await mine.findOne({ _id }))?.age, 3)

      const duplicate = inbox.consumeOnce('c', [{ id: '3' }], async tx => {
        await mine.insertOne(draft(1), { tx })
      })
      await assert.rejects(duplicate, /duplicate -> email/) // of its effect, not of the event
      assert.equal(await raise('c', '3'), 1)
    } finally {
      await drop()
    }
  })
})
