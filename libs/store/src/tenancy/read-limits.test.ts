import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { AppError } from '@rollcall/contract'
import { type Model, Mongoose, mongo, Schema } from 'mongoose'
import { draft, newOrganization, type Person, people, personFields, testStore } from '../../test/store.ts'
import { positions } from '../positions/positions.ts'
import { listRecords, runList } from '../query/list.ts'
import { isOutOfTime, toStoreError } from './errors.ts'
import { createReadLimits, until } from './read-limits.ts'
import { scoped } from './scope.ts'

describe('every read of the database', () => {
  const sent: { name: string; maxTimeMS: number | undefined }[] = []
  let model: Model<Person>
  let drop: () => Promise<void>
  before(async () => {
    const made = await testStore()
    const plain = await people(made.store)
    const url = process.env.MONGODB_URL!
    const dbName = made.store.connection.name
    const connection = new Mongoose().createConnection(url, { dbName, monitorCommands: true })
    await connection.asPromise()
    model = connection.model<Person>('Person', plain.schema as never)
    connection.getClient().on('commandStarted', ({ commandName, command }) => {
      if (['find', 'aggregate', 'count'].includes(commandName))
        sent.push({ name: commandName, maxTimeMS: command.maxTimeMS as number | undefined })
    })
    drop = async () => {
      await connection.close()
      await made.drop()
    }
  })
  after(() => drop())

  const limitsOf = async (read: (scope: ReturnType<typeof scoped<Person>>) => Promise<unknown>) => {
    sent.length = 0
    await read(scoped(model, newOrganization()))
    assert.ok(sent.length > 0)
    return sent.map(({ maxTimeMS }) => maxTimeMS)
  }
  const all = async (items: AsyncIterable<unknown>) => {
    for await (const _ of items);
  }

  it('is limited, whatever has compiled the schema before', async () => {
    const { store, drop } = await testStore()
    const schema = new Schema({ name: String })
    new Mongoose().model('Early', schema)
    const query = store.model('Early', schema).findOne({ name: 'a' })
    await query
    assert.equal(query.getOptions().maxTimeMS, 10_000)
    await drop()
  })

  it('sets a time limit on the server', async () => {
    const reads: ((scope: ReturnType<typeof scoped<Person>>) => Promise<unknown>)[] = [
      scope => scope.find({}),
      scope => scope.findOne({}),
      scope => scope.count({}),
      scope => scope.aggregate([]),
      scope => scope.findReply({}),
      scope => scope.aggregateReply([]),
      scope => all(scope.findRaw({})),
      scope => all(scope.aggregateRaw([])),
    ]
    for (const read of reads) assert.deepEqual(await limitsOf(read), [10_000], String(read))
    assert.deepEqual(await limitsOf(scope => all(scope.stream([]))), [600_000])
  })

  it('has what is left until its deadline, and is not made after it', async () => {
    const [first = 0] = await limitsOf(scope => until(scope, Date.now() + 500).find({}))
    assert.ok(first > 400 && first <= 500, String(first))
    const past = until(scoped(model, newOrganization()), Date.now() - 1)
    for (const read of [() => past.find({}), () => past.count(), () => past.aggregate([])])
      await assert.rejects(read(), { code: 'service.unavailable' })
  })

  it('of a page with a filter of the client’s has what is left of the time that a client waits', async () => {
    const filter = '{"name":{"$regex":"x.*y"},"age":{"$gt":1}}'
    for (const query of [{ filter }, { filter, sort: '{"name":1}' }, { filter, page: 1000 }, { sort: '{"age":1}' }]) {
      const limits = await limitsOf(async scope => runList({ scope, fields: personFields, query }))
      assert.ok(
        limits.every(limit => limit && limit > 5000 && limit <= 10_000),
        `${JSON.stringify(query)}: ${limits}`,
      )
    }
    const streamed = await limitsOf(scope => all(listRecords({ scope, fields: personFields, query: { filter } })))
    assert.deepEqual(streamed, [600_000])
  })

  it('that the server gave up is answered as unavailable', () => {
    const error = new mongo.MongoServerError({ code: 50, message: 'operation exceeded time limit' })
    const refusal = toStoreError(error)
    assert.ok(refusal instanceof AppError && refusal.code === 'service.unavailable')
    assert.ok(isOutOfTime(error) && isOutOfTime(refusal) && !isOutOfTime(new Error('50')))
  })
})

describe('a stream of large records', () => {
  it('decodes no more of them than fit, in their order, and reads more than one reply can hold', async () => {
    const { store, drop } = await testStore()
    try {
      const organization = newOrganization()
      const scope = scoped(await people(store), organization)
      const list = positions(store, organization, 'people')
      const ages = Array.from({ length: 20 }, (_, index) => index + 1)
      await store.transaction(async tx => {
        const { first } = await list.take(tx, ages.length)
        const large = { attributes: { city: 'x'.repeat(900_000) } }
        const drafts = ages.map(age => draft(age, { age, position: first + age - 1, ...large }))
        await scope.insertMany(drafts, { tx })
      })
      const read = async (more: object, query: object) => {
        const batches: number[][] = []
        for await (const batch of listRecords({ scope, fields: personFields, query, ...more }))
          batches.push(batch.map(({ age }) => age!))
        assert.ok(
          batches.every(({ length }) => length <= 2),
          JSON.stringify(batches),
        )
        return batches.flat()
      }
      assert.deepEqual(await read({ positions: list }, {}), ages.toReversed())
      assert.deepEqual(await read({ positions: list }, { sort: '{"createdAt":1}' }), ages)
      assert.deepEqual(await read({ positions: list }, { filter: '{"age":{"$gt":4}}' }), ages.slice(4).toReversed())
      assert.deepEqual(await read({}, { sort: '{"age":1}' }), ages)
    } finally {
      await drop()
    }
  })
})

describe('limits of reading at once', () => {
  const forever = () => new Promise<never>(() => {})

  it('hold for each organization by itself, and give back what is done', async () => {
    const limits = createReadLimits({ filteredReads: 2 })
    const gate = Promise.withResolvers<void>()
    const running = [limits.filtered('one', () => gate.promise), limits.filtered('one', () => gate.promise)]
    await assert.rejects(limits.filtered('one', forever), {
      code: 'quota.too_many_pending',
      message: 'limit reached: 2 filtered lists at once per organization',
    })
    await limits.filtered('two', async () => {})
    gate.resolve()
    await Promise.all(running)
    await assert.rejects(
      limits.filtered('one', () => Promise.reject(new Error('no'))),
      /no/,
    )
    await Promise.all([limits.filtered('one', () => sleep(1)), limits.filtered('one', () => sleep(1))])
  })

  it('count streams from their first item to their end, however it comes, and all of them together', async () => {
    const limits = createReadLimits({ streams: 1, allStreams: 2 })
    const items = async function* () {
      yield 1
      yield 2
    }
    const begin = async (organization: string) => {
      const stream = limits.stream(organization, items())[Symbol.asyncIterator]()
      await stream.next()
      return stream
    }
    limits.stream('one', items()) // never started: holds nothing
    const first = await begin('one')
    await assert.rejects(begin('one'), { code: 'quota.too_many_pending' })
    const second = await begin('two')
    await assert.rejects(begin('three'), { code: 'service.unavailable' })
    await first.return?.()
    const third = await begin('three')
    for (const stream of [second, third]) while (!(await stream.next()).done);
    await begin('one')
    await begin('two')
  })
})
