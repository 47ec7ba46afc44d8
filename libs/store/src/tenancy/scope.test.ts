import assert from 'node:assert/strict'
import { createServer, connect as dial, type Socket } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { AppError } from '@rollcall/contract'
import { pause } from '@rollcall/runtime'
import { dropDatabase } from '@rollcall/testing/drop-database'
import fc from 'fast-check'
import { type Model, mongo, type PipelineStage } from 'mongoose'
import {
  draft,
  newOrganization,
  type Person,
  people,
  personFields,
  quiet,
  recordingStore,
  testStore,
} from '../../test/store.ts'
import { createLease } from '../coordination/lease.ts'
import { migrate } from '../coordination/migrate.ts'
import { incrementCounter, readCounter, repairCounter } from '../positions/counters.ts'
import { parseFilter } from '../query/filter.ts'
import { connectStore, type Store } from './connection.ts'
import { isDuplicate, toStoreError } from './errors.ts'
import { groupWrites } from './grouped.ts'
import { scoped } from './scope.ts'

let store: Store
let drop: () => Promise<void>
let model: Model<Person>

before(async () => {
  ;({ store, drop } = await testStore())
  model = await people(store)
})
after(() => drop())

const refusedAs = (code: string, path?: string) => (error: unknown) => {
  assert.ok(error instanceof AppError, String(error))
  assert.equal(error.code, code)
  if (path !== undefined) assert.equal(error.path, path)
  return true
}

describe('an organization’s view of a collection', () => {
  it('fills in defaults and times, and answers plain records', async () => {
    const mine = scoped(model, newOrganization())
    const made = await mine.insertOne(draft(1, { age: 1 }))
    assert.deepEqual(made.organization, mine.organization)
    assert.deepEqual(made.tags, [])
    assert.ok(made.createdAt instanceof Date)
    assert.equal(Object.getPrototypeOf(made), Object.prototype)
    assert.deepEqual(await mine.findOne({ _id: String(made._id) }), made)

    const { matchedCount } = await mine.updateOne({ _id: made._id }, { $set: { name: 'New' }, $inc: { age: 1 } })
    assert.equal(matchedCount, 1)
    const changed = await mine.findOne({ _id: made._id })
    assert.equal(changed?.name, 'New')
    assert.ok(changed!.updatedAt >= made.updatedAt)
    assert.deepEqual(changed?.createdAt, made.createdAt)

    const past = await mine.findOneAndUpdate(
      { _id: made._id },
      { $set: { name: 'Newer' } },
      { returnDocument: 'before' },
    )
    assert.equal(past?.name, 'New')
    assert.equal((await mine.findOneAndUpdate({ _id: made._id }, { $set: { name: 'Newest' } }))?.name, 'Newest')
    assert.equal((await mine.findOneAndDelete({ _id: made._id }))?.name, 'Newest')
    assert.equal(await mine.count(), 0)
  })

  it('leaves the time of change as it is without timestamps', async () => {
    const mine = scoped(model, newOrganization())
    const made = await mine.insertOne(draft(1, { updatedAt: new Date(0) }))
    const change = { $set: { age: 1 } }
    await mine.updateOne({ _id: made._id }, change, { timestamps: false })
    await mine.updateMany({ _id: made._id }, change, { timestamps: false })
    await mine.bulkWrite([{ updateOne: { filter: { _id: made._id }, update: change } }], { timestamps: false })
    assert.deepEqual(await mine.findOne({}), { ...made, age: 1 })
  })

  it('sorts, skips, limits and projects', async () => {
    const mine = scoped(model, newOrganization())
    await mine.insertMany([3, 1, 2].map(age => draft(age, { age })))
    const found = await mine.find({}, { sort: { age: -1 }, skip: 1, limit: 1, projection: { age: 1 } })
    assert.deepEqual(
      found.map(({ age, email }) => [age, email]),
      [[2, undefined]],
    )
    assert.deepEqual(await mine.aggregate([{ $group: { _id: null, sum: { $sum: '$age' } } }]), [{ _id: null, sum: 6 }])
  })

  it('says which field is a duplicate, whichever way it is written', async () => {
    const mine = scoped(model, newOrganization())
    await mine.insertOne(draft(1))
    const again = { ...draft(1), email: 'PERSON1@example.com' }
    await assert.rejects(mine.insertOne(again), refusedAs('record.duplicate', 'email'))
    await assert.rejects(mine.insertMany([draft(2), again]), refusedAs('record.duplicate', 'email'))
    const raw = { ...again, organization: mine.organization }
    await assert.rejects(mine.bulkWrite([{ insertOne: { document: raw } }]), refusedAs('record.duplicate', 'email'))
    await assert.rejects(
      mine.updateOne({ email: 'Person2@example.com' }, { $set: { emailKey: 'person1@example.com' } }),
      isDuplicate,
    )
    const inTransaction = store.transaction(tx => mine.insertOne(again, { tx }))
    await assert.rejects(inTransaction, refusedAs('record.duplicate', 'email'))
    const { _id } = (await mine.findOne({}))!
    await assert.rejects(mine.insertOne({ ...draft(9), _id }), refusedAs('record.duplicate', 'id'))
    await scoped(model, newOrganization()).insertOne(draft(1)) // each organization for itself
  })

  it('frees the old value of a unique field at once when it rewrites the record', async () => {
    const mine = scoped(model, newOrganization())
    const made = await mine.insertOne(draft(1))
    const rewrite = (number: number) =>
      store.transaction(tx => mine.rewriteOne({ _id: made._id }, { emailKey: `person${number}@example.com` }, { tx }))
    const { updatedAt, ...rewritten } = (await rewrite(2))!
    const { updatedAt: _, ...before } = made
    assert.deepEqual(rewritten, { ...before, emailKey: 'person2@example.com' })
    await mine.insertOne(draft(1))
    await assert.rejects(rewrite(1), refusedAs('record.duplicate', 'email'))
    assert.equal((await mine.findOne({ _id: made._id }))?.emailKey, 'person2@example.com')
    assert.equal(await store.transaction(tx => mine.rewriteOne({ name: 'nobody' }, {}, { tx })), null)
  })

  it('refuses misspelt fields, malformed ids, and anything that would leave the organization', async () => {
    const mine = scoped(model, newOrganization())
    await assert.rejects(mine.find({ nmae: 1 }), /strictQuery/)
    await assert.rejects(mine.updateOne({}, { $set: { nmae: 1 } }), /strict/)
    await assert.rejects(mine.findOne({ _id: 'x' }), refusedAs('request.invalid_field', 'id'))
    assert.throws(() => scoped(model, 'x'), refusedAs('request.invalid_field', 'organization'))
    assert.throws(() => mine.updateOne({}, { $set: { organization: newOrganization() } }), /organization/)
    assert.throws(() => mine.updateOne({}, { name: 'replaced' }), /operators/)
    const foreign: PipelineStage[] = [
      { $lookup: { from: 'people', localField: 'name', foreignField: 'name', as: 'all' } },
      { $unionWith: 'people' },
      { $out: 'people' },
      { $merge: { into: 'people' } },
    ]
    for (const stage of foreign) assert.throws(() => mine.aggregate([stage]), /not possible within an organization/)
    const hidden: PipelineStage = { $facet: { a: [{ $unionWith: 'people' } as PipelineStage.FacetPipelineStage] } }
    assert.throws(() => mine.aggregate([hidden]), /not possible within an organization/)
  })

  it('never shows or touches a record of another, whatever the filter', async () => {
    const organizations = [newOrganization(), newOrganization()]
    for (const organization of organizations) {
      const drafts = Array.from({ length: 20 }, (_, index) => draft(index, { age: index % 5, tags: [`t${index % 3}`] }))
      await scoped(model, organization).insertMany(drafts)
    }
    const [mine, theirs] = organizations.map(organization => scoped(model, organization)) as [Scope, Scope]
    const before = await theirs.find({}, { sort: { _id: 1 } })

    await fc.assert(
      fc.asyncProperty(hostileFilter(theirs.organization), async filter => {
        const found = await mine.find(filter).catch(() => [])
        const streamed = await mine.aggregate([{ $match: filter as never }]).catch(() => [])
        for (const record of [...found, ...streamed] as Person[])
          assert.ok(mine.organization.equals(record.organization))
        await mine.updateMany(filter, { $set: { name: 'touched' } }).catch(() => undefined)
        const operations = [
          { updateMany: { filter, update: { $set: { name: 'touched' } } } },
          { deleteMany: { filter: { ...filter, age: -1 } } },
        ]
        await mine.bulkWrite(operations as never).catch(() => undefined)
      }),
      { numRuns: 150 },
    )
    assert.deepEqual(await theirs.find({}, { sort: { _id: 1 } }), before)
    await mine.deleteMany({ $or: [{ organization: theirs.organization }, {}] }).catch(() => undefined)
    await mine.bulkWrite([
      { deleteMany: { filter: { organization: theirs.organization } } },
      { insertOne: { document: { ...draft(77), organization: theirs.organization } as never } },
    ])
    assert.deepEqual(await theirs.find({}, { sort: { _id: 1 } }), before)
  })

  type Scope = ReturnType<typeof scoped<Person>>

  /** Filters that a service might pass on: those that the parser accepts, and worse ones. */
  function hostileFilter(foreign: unknown): fc.Arbitrary<object> {
    const tenant = fc.constantFrom<object>(
      { organization: foreign },
      { organization: { $ne: null } },
      { organization: { $exists: true } },
      { organization: { $in: [foreign] } },
      { $or: [{ organization: foreign }, {}] },
      { $nor: [{ organization: null }] },
      { $and: [{ organization: foreign }] },
      { $expr: { $eq: ['$organization', foreign] } },
      JSON.parse('{"__proto__":{"organization":null}}') as object,
    )
    const field = fc.constantFrom('name', 'email', 'age', 'tags', 'active')
    const value = fc.oneof(
      fc.integer({ min: 0, max: 5 }),
      fc.constantFrom('t1', 'Person 1', ''),
      fc.boolean(),
      fc.constant(null),
    )
    const operator = fc.constantFrom('$eq', '$ne', '$gt', '$lte', '$exists')
    const condition = fc.tuple(field, operator, value).map(([name, op, operand]) => ({ [name]: { [op]: operand } }))
    const parsed = condition.map(filter => {
      try {
        return parseFilter(JSON.stringify(filter), personFields)
      } catch {
        return {}
      }
    })
    const branch = fc.oneof(tenant, condition)
    return fc.oneof(
      parsed,
      branch,
      fc.array(branch, { minLength: 1, maxLength: 3 }).map($or => ({ $or })),
      fc.tuple(branch, condition).map(([a, b]) => ({ ...a, ...b })),
    )
  }
})

describe('a transaction', () => {
  it('is all or nothing', async () => {
    const mine = scoped(model, newOrganization())
    const failing = store.transaction(async tx => {
      await mine.insertOne(draft(1), { tx })
      throw new AppError('record.conflict')
    })
    await assert.rejects(failing, refusedAs('record.conflict'))
    assert.equal(await mine.count(), 0)
    assert.equal(await store.transaction(async tx => (await mine.insertOne(draft(1), { tx })).name), 'Person 1')
    assert.equal(await mine.count(), 1)
  })

  it('begins again where it meets another one, and loses no change', async () => {
    const mine = scoped(model, newOrganization())
    const { _id } = await mine.insertOne(draft(1, { age: 0 }))
    let tries = 0
    const raise = () =>
      store.transaction(async tx => {
        tries++
        const { age } = (await mine.findOne({ _id }, { tx }))!
        await mine.updateOne({ _id }, { $set: { age: age! + 1 } }, { tx })
      })
    await Promise.all(Array.from({ length: 12 }, raise))
    assert.equal((await mine.findOne({ _id }))?.age, 12)
    assert.ok(tries > 12, 'they never met')
  })

  it('waits its turn in a queue instead', async () => {
    const mine = scoped(model, newOrganization())
    const { _id } = await mine.insertOne(draft(1, { age: 0 }))
    let tries = 0
    const raise = () =>
      store.transaction(
        async tx => {
          tries++
          await mine.updateOne({ _id }, { $inc: { age: 1 } }, { tx })
        },
        { queue: String(_id) },
      )
    await Promise.all(Array.from({ length: 12 }, raise))
    assert.equal((await mine.findOne({ _id }))?.age, 12)
    assert.equal(tries, 12)
  })

  it('waits in several queues without a deadlock, and is not made after its deadline', async () => {
    let made = 0
    let running = 0
    const hold = (queue: string[], timeoutMs = 15_000) =>
      store.transaction(
        async () => {
          assert.equal(++running, 1)
          await pause(20)
          running--
          made++
        },
        { queue, timeoutMs },
      )
    const first = Promise.all([hold(['a', 'b']), hold(['b', 'a']), hold(['b', 'c', 'b'])])
    await assert.rejects(hold(['c', 'b'], 10), refusedAs('service.unavailable'))
    await first
    assert.equal(made, 3)
  })

  it('gives up at its deadline, without a commit', async () => {
    const mine = scoped(model, newOrganization())
    const slow = store.transaction(
      async tx => {
        await mine.insertOne(draft(1), { tx })
        await new Promise(resolve => setTimeout(resolve, 60))
      },
      { timeoutMs: 50 },
    )
    await assert.rejects(slow, refusedAs('service.unavailable'))
    assert.equal(await mine.count(), 0)
  })
})

describe('grouped writes', () => {
  const patient = () => ({ deadline: Date.now() + 15_000 })

  it('are not made for those who stopped waiting', async () => {
    const mine = scoped(model, newOrganization())
    let attempts = 0
    const create = groupWrites<number, object>(store, async (tx, numbers) => {
      if (++attempts === 1) await pause(300)
      return mine.insertMany(
        numbers.map(number => draft(number)),
        { tx },
      )
    })
    const first = create('a', 1, patient())
    await pause(50) // the others wait for its transaction
    const calls = [
      first,
      create('a', 2, { deadline: Date.now() + 100 }),
      create('a', 3, patient()),
      create('b', 4, { deadline: Date.now() - 1 }),
    ]
    const results = await Promise.allSettled(calls)
    assert.deepEqual(
      results.map(result => (result.status === 'fulfilled' ? 'made' : result.reason.code)),
      ['made', 'service.unavailable', 'made', 'service.unavailable'],
    )
    const made = await mine.find({}, { sort: { name: 1 } })
    assert.deepEqual(
      made.map(({ name }) => name),
      ['Person 1', 'Person 3'],
    )
  })

  it('say that other transactions have made them wait', async () => {
    const waits: string[] = []
    const onWait = async (group: string) => void waits.push(group)
    const create = groupWrites<number, number>(store, async (_tx, numbers) => numbers, { onWait })
    await create('a', 1, patient())
    assert.deepEqual(waits, [])
    const before = store.transaction(() => pause(100), { queue: 'b' })
    await Promise.all([before, create('b', 2, patient()), create('b', 3, patient())])
    assert.deepEqual([...new Set(waits)], ['b'])
  })

  it('commit nothing where all are refused', async () => {
    const mine = scoped(model, newOrganization())
    const create = groupWrites<number, string>(store, async (tx, numbers) => {
      await mine.insertOne(draft(1), { tx })
      return numbers.map(() => new AppError('request.refused'))
    })
    await assert.rejects(create('a', 1, patient()), refusedAs('request.refused'))
    assert.equal(await mine.count(), 0)
  })

  it('share transactions, and each has its own result', async () => {
    const mine = scoped(model, newOrganization())
    const sizes: number[] = []
    const create = groupWrites<number, string>(store, async (tx, numbers) => {
      sizes.push(numbers.length)
      const made = await mine.insertMany(
        numbers.filter(number => number >= 0).map(number => draft(number)),
        { tx },
      )
      const names = new Map(made.map(({ email, name }) => [email, name]))
      return numbers.map(number => names.get(draft(number).email) ?? new AppError('request.refused'))
    })
    const results = await Promise.all(Array.from({ length: 40 }, (_, number) => create('a', number, patient())))
    assert.deepEqual(
      results,
      Array.from({ length: 40 }, (_, number) => `Person ${number}`),
    )
    assert.ok(sizes.length < 40)
    assert.equal(
      sizes.reduce((sum, size) => sum + size),
      40,
    )

    const mixed = await Promise.allSettled([100, -1, 7, 101, 7, 102].map(number => create('a', number, patient())))
    const outcome = mixed.map(result => (result.status === 'fulfilled' ? 'made' : (result.reason as AppError).code))
    assert.deepEqual(outcome, ['made', 'request.refused', 'record.duplicate', 'made', 'record.duplicate', 'made'])
    assert.equal(await mine.count(), 43)
  })
})

describe('a counter', () => {
  it('follows what it counts, from many writers at once', async () => {
    const key = { organization: newOrganization(), name: 'people' }
    const mine = scoped(model, key.organization)
    const add = (number: number) =>
      store.transaction(async tx => {
        await mine.insertOne(draft(number), { tx })
        await incrementCounter(tx, key, 1)
      })
    await Promise.all(Array.from({ length: 24 }, (_, number) => add(number)))
    assert.equal(await readCounter(store, key), 24)
    await store.transaction(tx => incrementCounter(tx, key, -4))
    assert.equal(await readCounter(store, key), 20)
    assert.equal(await readCounter(store, { ...key, organization: newOrganization() }), 0)

    const repaired = repairCounter(store, key, tx => mine.count({}, { tx }))
    const beside = Promise.all([100, 101, 102].map(add))
    await Promise.all([repaired, beside])
    assert.equal(await readCounter(store, key), 27)
  })
})

describe('a counter of many writers', () => {
  it('makes no writers of one process conflict', async () => {
    const key = { organization: newOrganization(), name: 'people' }
    let attempts = 0
    const add = () =>
      store.transaction(async tx => {
        attempts++
        await scoped(model, key.organization).count({}, { tx }) // all have a snapshot from before the others' writes
        await pause(100)
        await incrementCounter(tx, key, 1)
      })
    await Promise.all(Array.from({ length: 16 }, add))
    assert.deepEqual([attempts, await readCounter(store, key)], [16, 16])
  })
})

describe('the indexes', () => {
  it('are made once, and none is dropped silently', async () => {
    const collection = store.connection.collection('people')
    await collection.createIndex({ organization: 1, age: 1 }, { name: 'by_hand' })
    const again = await migrate(store, quiet)
    assert.deepEqual(again, { created: [], undeclared: ['people.by_hand'] })
    const names = (await collection.indexes()).map(({ name }) => name)
    assert.ok(names.includes('organization_1__id_1') && names.includes('by_hand'))
    await collection.dropIndex('by_hand')
    await collection.dropIndex('organization_1_position_1')
    assert.deepEqual(await migrate(store, quiet), { created: ['people.organization_1_position_1'], undeclared: [] })
  })

  it('are reported while the server creates them', async () => {
    const collection = store.connection.collection('people')
    const many = { organization: newOrganization() }
    await collection.insertMany(
      Array.from({ length: 5000 }, (_, position) => ({ ...many, position, emailKey: `${position}` })),
    )
    await collection.dropIndex('organization_1_position_1')
    const reported = new Set<unknown>()
    const info = ({ index }: { index?: string }, message: string) =>
      message === 'creating an index' && reported.add(index)
    await migrate(store, { ...quiet, info } as never, 1)
    assert.ok(reported.has('people.organization_1_position_1'))
    await collection.deleteMany(many)
  })

  it('are made by one at a time', async () => {
    const another = createLease(store, 'migration', 'another', 60_000)
    assert.ok(await another.acquire())
    let isOver = false
    const migration = migrate(store, quiet).finally(() => {
      isOver = true
    })
    await Promise.race([migration, pause(300)])
    assert.equal(isOver, false)
    await another.release()
    await migration
  })
})

describe('reads of the latest writes', () => {
  it('are confirmed by a majority first, and see no less than that', async () => {
    const { store, drop, sent } = await recordingStore()
    const mine = scoped(await people(store), newOrganization())
    await mine.insertOne(draft(1))
    const found = await store.readLatest(session =>
      scoped(mine.model, mine.organization, session).findOne({ name: 'Person 1' }, { readConcern: 'majority' }),
    )
    assert.equal(found?.name, 'Person 1')
    const [confirmation] = sent('find', 'leases').slice(-1)
    assert.deepEqual([confirmation?.readConcern?.level, confirmation?.maxTimeMS], ['linearizable', 2000])
    const [read] = sent('find', 'people')
    assert.equal(read?.readConcern?.level, 'majority')
    assert.ok(read.readConcern.afterClusterTime)
    await drop()
  })
})

describe('an error of the server', () => {
  it('is known as unavailable where the server is away, sheds load or runs out of time', () => {
    const codeOf = (error: object, ...labels: string[]) => {
      const thrown = new mongo.MongoServerError({ ok: 0, errmsg: 'no', ...error })
      for (const label of labels) thrown.addErrorLabel(label)
      const known = toStoreError(thrown)
      return known instanceof AppError ? known.code : undefined
    }
    for (const code of [6, 7, 50, 64, 89, 91, 133, 134, 189, 202, 262, 290, 10107, 11600, 11602, 13435, 13436])
      assert.equal(codeOf({ code }), 'service.unavailable', String(code))
    assert.equal(codeOf({ code: 462 }, 'SystemOverloadedError', 'RetryableError'), 'service.unavailable')
    for (const code of [2, 9, 59, 11601]) assert.equal(codeOf({ code }), undefined, String(code))
  })
})

describe('a transaction of a replica set', () => {
  it('reads the newest majority snapshot, and limits its commit on the server', async () => {
    const { store, drop, commands } = await recordingStore()
    const mine = scoped(await people(store), newOrganization())
    await store.transaction(tx => mine.insertOne(draft(1), { tx }), { timeoutMs: 5000 })
    const begun = commands.find(({ startTransaction }) => startTransaction)
    assert.equal(begun?.readConcern?.level, 'majority')
    const commit = commands.find(({ commitTransaction }) => commitTransaction)
    assert.ok(commit!.maxTimeMS! > 0 && commit!.maxTimeMS! <= 5000)
    await drop()
  })
})

describe('a connection', () => {
  it('reads from the primary and writes to a majority, whatever the URL says', async () => {
    const url = new URL(process.env.MONGODB_URL!)
    url.search += '&readPreference=secondaryPreferred&readConcernLevel=available&w=1&appName=other'
    const { store, drop } = await testStore({ url: url.href, poolSize: 7 })
    const { readPreference, readConcern, writeConcern, appName, maxPoolSize } = store.connection.getClient().options
    assert.deepEqual(
      [readPreference.mode, readConcern.level, writeConcern.w, appName, maxPoolSize],
      ['primary', 'local', 'majority', 'rollcall', 7],
    )
    await drop()
  })
})

describe('a database that is away', () => {
  const settings = { dbName: 'store-test-away', logger: quiet, timeoutMs: 500 }

  it('is unavailable, soon', async () => {
    await assert.rejects(
      connectStore({ ...settings, url: 'mongodb://127.0.0.1:1/?directConnection=true' }),
      refusedAs('service.unavailable'),
    )
  })

  it('that stops answering is unavailable too, and back when it answers again', async () => {
    const proxy = await stallingProxy(new URL(process.env.MONGODB_URL!))
    const far = await connectStore({ ...settings, url: `mongodb://127.0.0.1:${proxy.port}/?directConnection=true` })
    const mine = scoped(await people(far), newOrganization())
    try {
      await mine.insertOne(draft(1))
      proxy.stall(true)
      await assert.rejects(mine.findOne({}), refusedAs('service.unavailable'))
      await assert.rejects(far.ping(), refusedAs('service.unavailable'))
      await assert.rejects(
        far.transaction(tx => mine.insertOne(draft(2), { tx })),
        refusedAs('service.unavailable'),
      )
      proxy.stall(false)
      await far.ping()
      assert.equal(await mine.count(), 1)
    } finally {
      proxy.stall(false)
      await dropDatabase(far.connection)
      await far.close()
      proxy.close()
    }
  })
})

/** A proxy to the server that can stop forwarding while its connections stay open. */
async function stallingProxy({ hostname, port }: URL) {
  const sockets = new Set<Socket>()
  let stalled = false
  const server = createServer(client => {
    const upstream = dial(Number(port), hostname)
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from)
      from.on('data', chunk => void (stalled || to.write(chunk)))
      from.on('close', () => to.destroy())
      from.on('error', () => to.destroy())
    }
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as { port: number }).port,
    stall: (on: boolean) => {
      stalled = on
    },
    close: () => {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}
