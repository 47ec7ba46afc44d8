import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ClientSession, type Collection, MongoClient, MongoError } from 'mongodb'
import { eventually } from '../eventually.ts'
import { linkTo } from '../link.ts'
import { scaledTimeout } from '../scaled-timeout.ts'
import { type Mongod, startMongod } from './proxy.ts'

type Person = { _id: number | string; team: number; name: string; nick?: string; score: number }

const database = `mongod-test-${randomBytes(6).toString('hex')}`
const writeConcern = { w: 'majority' } as const
let mongod: Mongod
let client: MongoClient
let people: Collection<Person>
let team = 0

before(async () => {
  mongod = await startMongod({ target: process.env.MONGODB_URL! })
  client = await MongoClient.connect(mongod.replicaSetUrl, { writeConcern })
  people = client.db(database).collection('people')
  await people.createIndex({ team: 1, name: 1 }, { unique: true })
  await people.createIndex(
    { team: 1, nick: 1 },
    { unique: true, partialFilterExpression: { nick: { $type: 'string' } } },
  )
})

after(async () => {
  await client?.db(database).dropDatabase()
  await client?.close()
  await mongod?.stop()
})

/** Adds a team of three people. The stand-in keeps changed unique values of deleted documents, so none is reused. */
async function newTeam(): Promise<void> {
  team++
  await people.insertMany([1, 2, 3].map(number => ({ _id: id(number), team, name: `name ${number}`, score: 0 })))
}

/** Returns the id of a member of the last team. */
const id = (number: number) => team * 10 + number

async function inTransaction<T>(work: (session: ClientSession) => Promise<T>): Promise<T> {
  const session = client.startSession()
  try {
    session.startTransaction({ readConcern: { level: 'snapshot' }, writeConcern })
    return await work(session)
  } finally {
    if (session.inTransaction()) await session.abortTransaction()
    await session.endSession()
  }
}

/** Returns code and labels of the error; undefined if there is none. */
async function failure(work: Promise<unknown>): Promise<{ code: unknown; labels: string[] } | undefined> {
  try {
    await work
    return undefined
  } catch (error) {
    assert.ok(error instanceof MongoError, String(error))
    return { code: error.code, labels: [...error.errorLabels] }
  }
}

const CONFLICT = { code: 112, labels: ['TransientTransactionError'] }
const random = () => randomBytes(6).toString('hex')
const ofDocument = {
  'updates by id': options => people.updateOne({ _id: id(1) }, { $inc: { score: 1 } }, options),
  'updates by filter': options => people.updateMany({ team, score: 0 }, { $inc: { score: 1 } }, options),
  'finds and updates': options => people.findOneAndUpdate({ team, name: 'name 1' }, { $inc: { score: 1 } }, options),
  deletes: options => people.deleteMany({ team, name: 'name 1' }, options),
} satisfies Record<string, Write>
const ofValue = {
  inserts: options => people.insertOne({ _id: random(), team, name: 'new', score: 0 }, options),
  upserts: options => people.updateOne({ team, name: 'new' }, { $inc: { score: 1 } }, { upsert: true, ...options }),
  renames: options => people.updateOne({ _id: id(2) }, { $set: { name: 'new' } }, options),
  'finds and renames': options => people.findOneAndUpdate({ _id: id(3) }, { $set: { name: 'new' } }, options),
} satisfies Record<string, Write>
const ofPartialValue = {
  inserts: options => people.insertOne({ _id: random(), team, name: random(), nick: 'new', score: 0 }, options),
  names: options => people.updateOne({ _id: id(2) }, { $set: { nick: 'new' } }, options),
} satisfies Record<string, Write>

type Write = (options: { session?: ClientSession }) => Promise<unknown>

describe('conflicting writes', () => {
  for (const [of, writes] of Object.entries({
    'a document': ofDocument,
    'a value': ofValue,
    'a partial value': ofPartialValue,
  })) {
    for (const [firstName, first] of Object.entries<Write>(writes)) {
      for (const [secondName, second] of Object.entries<Write>(writes)) {
        it(`of ${of}: who ${secondName} after one who ${firstName} begins again`, async () => {
          await newTeam()
          await inTransaction(async one => {
            await first({ session: one })
            assert.deepEqual(await failure(inTransaction(session => second({ session }))), CONFLICT, 'open')
            await inTransaction(async other => {
              await people.findOne({ _id: id(3) }, { session: other })
              await one.commitTransaction()
              assert.deepEqual(await failure(second({ session: other })), CONFLICT, 'committed after the snapshot')
              assert.deepEqual(await failure(people.findOne({}, { session: other })), { ...CONFLICT, code: 251 })
            })
          })
        })
      }
    }
  }

  it('fail as duplicates if the snapshot shows the value, and end the transaction', async () => {
    await newTeam()
    await inTransaction(async session => {
      assert.equal(
        (await failure(people.insertOne({ _id: id(9), team, name: 'name 1', score: 0 }, { session })))?.code,
        11000,
      )
      assert.equal((await failure(people.findOne({}, { session })))?.code, 251)
    })
  })

  it('are none if one of them changes nothing', async () => {
    await newTeam()
    await inTransaction(async one => {
      await people.updateOne({ _id: id(1) }, { $set: { score: 0 } }, { session: one })
      await inTransaction(other => people.updateOne({ _id: id(1) }, { $inc: { score: 1 } }, { session: other }))
    })
  })

  for (const [name, write] of Object.entries<Write>({
    updates: ofDocument['updates by id'],
    inserts: ofValue.inserts,
  })) {
    it(`a plain write that ${name} waits for the transaction`, async () => {
      await newTeam()
      await inTransaction(async session => {
        await write({ session })
        let isDone = false
        const plain = write({}).finally(() => {
          isDone = true
        })
        await sleep(50)
        assert.equal(isDone, false)
        await session.abortTransaction()
        await plain
      })
    })
  }
})

describe('concurrent transactions', () => {
  const CLIENTS = 4
  const ROUNDS = 4

  /** Has clients count together, with a pause between reading and writing. */
  async function count(isRetried: (error: MongoError) => boolean): Promise<number> {
    await newTeam()
    const increment = async (): Promise<void> => {
      const adding = inTransaction(async session => {
        const { score } = (await people.findOne({ _id: id(1) }, { session }))!
        await people.updateOne({ _id: id(1) }, { $set: { score: score + 1 } }, { session })
        await session.commitTransaction()
      })
      await adding.catch(error => (isRetried(error) ? sleep(Math.random() * 20).then(increment) : undefined))
    }
    const run = async () => {
      for (let round = 0; round < ROUNDS; round++) await increment()
    }
    await Promise.all(Array.from({ length: CLIENTS }, run))
    return (await people.findOne({ _id: id(1) }))!.score
  }

  it('lose nothing if they retry', async () => {
    assert.equal(await count(error => error.hasErrorLabel('TransientTransactionError')), CLIENTS * ROUNDS)
  })

  it('lose increments if they do not retry', async () => {
    assert.ok((await count(() => false)) < CLIENTS * ROUNDS)
  })

  it('lose increments if they do not retry after conflicts that are made up', async () => {
    await newTeam()
    mongod.behaviour.conflictEvery = 3
    try {
      const add = () => inTransaction(session => people.updateOne({ _id: id(1) }, { $inc: { score: 1 } }, { session }))
      const failures = [await failure(add()), await failure(add()), await failure(add())]
      assert.deepEqual(failures.filter(Boolean), [CONFLICT])
      const session = client.startSession()
      await session.withTransaction(async () => {
        for (let write = 0; write < 5; write++)
          await people.updateOne({ _id: id(2) }, { $inc: { score: 1 } }, { session })
      })
      await session.endSession()
      assert.equal((await people.findOne({ _id: id(2) }))?.score, 5)
    } finally {
      mongod.behaviour.conflictEvery = 0
    }
  })
})

describe('the subject', () => {
  it('alone is observed and has conflicts that are made up', async () => {
    await newTeam()
    const observed: string[] = []
    const chosen = await startMongod({
      target: process.env.MONGODB_URL!,
      conflictEvery: 1,
      isSubject: application => application === 'product',
      observe: ({ name }) => void observed.push(name),
    })
    const increment = async (appName?: string) => {
      await using other = await MongoClient.connect(chosen.url, appName === undefined ? {} : { appName })
      const session = other.startSession()
      const scores = other.db(database).collection<Person>(people.collectionName)
      session.startTransaction()
      const failed = await failure(scores.updateOne({ _id: id(1) }, { $inc: { score: 1 } }, { session }))
      await session.endSession()
      return failed
    }
    try {
      assert.equal(await increment(), undefined)
      assert.equal(observed.length, 0)
      assert.deepEqual(await increment('product'), CONFLICT)
      assert.deepEqual(observed, ['update'])
    } finally {
      await chosen.stop()
    }
  })
})

describe('limits of time', () => {
  const slow = async (work: () => Promise<void>) => {
    mongod.behaviour.latencyMs = 150
    await work().finally(() => {
      mongod.behaviour.latencyMs = 0
    })
  }

  it('end a command at its maxTimeMS, and its transaction', async () => {
    await newTeam()
    await slow(async () => {
      assert.deepEqual(await failure(people.findOne({}, { maxTimeMS: 20 })), { code: 50, labels: [] })
      await inTransaction(async session => {
        await people.updateOne({ _id: id(1) }, { $inc: { score: 1 } }, { session })
        assert.deepEqual(await failure(people.findOne({}, { session, maxTimeMS: 20 })), { code: 50, labels: [] })
      })
    })
    await people.updateOne({ _id: id(1) }, { $inc: { score: 1 } })
  })

  it('end a transaction at its lifetime, without a label for what is running', async () => {
    await newTeam()
    mongod.behaviour.lifetimeMs = 60
    await slow(() =>
      inTransaction(async session => {
        const late = people.updateOne({ _id: id(1) }, { $inc: { score: 1 } }, { session })
        assert.deepEqual(await failure(late), { code: 290, labels: [] })
        assert.equal((await failure(people.findOne({}, { session })))?.code, 251)
      }),
    ).finally(() => {
      mongod.behaviour.lifetimeMs = 60_000
    })
  })

  it('killSessions interrupts what is running, without a label', async () => {
    await newTeam()
    await slow(() =>
      inTransaction(async session => {
        await people.updateOne({ _id: id(1) }, { $inc: { score: 1 } }, { session })
        const [running] = await Promise.all([
          failure(people.findOne({}, { session })),
          client.db('admin').command({ killSessions: [{ id: session.id?.id }] }),
        ])
        assert.deepEqual(running, { code: 11601, labels: [] })
      }),
    )
    await people.updateOne({ _id: id(1) }, { $inc: { score: 1 } })
  })
})

describe('faults', () => {
  it('a step-down aborts transactions, and drivers wait for the next primary', async () => {
    await newTeam()
    await inTransaction(async session => {
      await people.updateOne({ _id: id(1) }, { $inc: { score: 1 } }, { session })
      await mongod.stepDown(300)
      const failed = await failure(people.updateOne({ _id: id(2) }, { $inc: { score: 1 } }, { session }))
      assert.deepEqual(failed?.labels, ['TransientTransactionError'])
    })
    await people.updateOne({ _id: id(1) }, { $inc: { score: 1 } })
    const scores = (await people.find({ team }).sort({ _id: 1 }).toArray()).map(({ score }) => score)
    assert.deepEqual(scores, [1, 0, 0])
  })

  it('a step-down in the middle of a write leaves none of its values held', {
    timeout: scaledTimeout(20_000),
  }, async () => {
    for (let delayMs = 0; delayMs < 4; delayMs++) {
      await newTeam()
      await inTransaction(async session => {
        const writing = failure(ofValue.upserts({ session }))
        await sleep(delayMs)
        const stepUp = await mongod.stepDown()
        stepUp()
        await writing
        await failure(session.commitTransaction())
      })
      assert.ok([undefined, 11000].includes((await failure(ofValue.inserts({})))?.code as number))
    }
  })

  it('a commit of unknown outcome is committed', async () => {
    await newTeam()
    mongod.behaviour.unknownCommits = 2
    const session = client.startSession()
    session.startTransaction()
    await people.updateOne({ _id: id(1) }, { $inc: { score: 1 } }, { session })
    const failed = await failure(session.commitTransaction()) // the driver sends it again once
    assert.ok(failed?.labels.includes('UnknownTransactionCommitResult'), String(failed?.labels))
    await session.commitTransaction()
    await session.endSession()
    assert.equal((await people.findOne({ _id: id(1) }))?.score, 1)
  })

  it('a slow majority delays commits, while others go on, and what reads at majority', async () => {
    await newTeam()
    mongod.behaviour.majorityMs = 400
    try {
      const startedAt = performance.now()
      const elapsed = () => performance.now() - startedAt
      await inTransaction(async session => {
        await people.updateOne({ _id: id(1) }, { $inc: { score: 1 } }, { session })
        const committed = session.commitTransaction().then(elapsed)
        await people.updateOne({ _id: id(1) }, { $inc: { score: 1 } }, { writeConcern: { w: 1 } })
        assert.equal((await people.findOne({ _id: id(1) }))?.score, 2)
        assert.ok(elapsed() < 400, `held for ${elapsed()} ms`)
        await people.findOne({}, { readConcern: { level: 'majority' } })
        assert.ok(elapsed() >= 400)
        assert.ok((await committed) >= 399)
      })
      const late = people.updateOne(
        { _id: id(1) },
        { $inc: { score: 1 } },
        { writeConcern: { w: 'majority', wtimeoutMS: 20 } },
      )
      assert.equal((await failure(late))?.code, 64)
    } finally {
      mongod.behaviour.majorityMs = 0
    }
  })

  it('a stale primary shows the old state, but not to who asks for the newest', async () => {
    await newTeam()
    const end = await mongod.becomeStale([people.namespace])
    const direct = await MongoClient.connect(process.env.MONGODB_URL!)
    try {
      const elsewhere = direct.db(database).collection<Person>(people.collectionName)
      await elsewhere.updateOne({ _id: id(1) }, { $set: { score: 7 } })
      for (const level of ['local', 'majority'] as const) {
        assert.equal((await people.findOne({ _id: id(1) }, { readConcern: { level } }))?.score, 0, level)
      }
      const newest = people.findOne({ _id: id(1) }, { readConcern: { level: 'linearizable' }, maxTimeMS: 50 })
      assert.equal((await failure(newest))?.code, 50)
    } finally {
      end()
      await direct.close()
    }
    assert.equal((await people.findOne({ _id: id(1) }))?.score, 7)
  })

  it('a client that disconnects leaves its transaction open until its session is killed', {
    timeout: scaledTimeout(20_000),
  }, async () => {
    await newTeam()
    const other = await MongoClient.connect(mongod.url)
    const session = other.startSession()
    session.startTransaction()
    await other
      .db(database)
      .collection<Person>(people.collectionName)
      .updateOne({ _id: id(1) }, { $inc: { score: 1 } }, { session })
    const lsid = session.id!.id
    const blocked = people.updateOne({ _id: id(1) }, { $inc: { score: 5 } })
    assert.equal(await Promise.race([blocked, sleep(50, 'waits')]), 'waits')
    await client.db('admin').command({ killSessions: [{ id: lsid }] })
    await blocked
    assert.equal((await people.findOne({ _id: id(1) }))?.score, 5)
    await other.close()
  })

  it('a database is dropped beside an open transaction', { timeout: scaledTimeout(20_000) }, async () => {
    const dropped = client.db(`${database}-dropped`)
    await dropped.createCollection('things')
    await inTransaction(async session => {
      await dropped.collection('things').insertOne({}, { session })
      await dropped.dropDatabase()
      assert.equal((await failure(session.commitTransaction()))?.code, 251)
    })
  })

  it('a replaced connection to the server serves the proxy itself', async () => {
    const link = await linkTo(process.env.MONGODB_URL!)
    const behind = await startMongod({ target: link.url })
    const linked = await MongoClient.connect(behind.replicaSetUrl, { serverSelectionTimeoutMS: 500 })
    const counts = linked.db(database).collection('counts')
    await counts.createIndex({ name: 1 }, { unique: true })
    const count = () => counts.updateOne({ name: 'a' }, { $inc: { n: 1 } }, { upsert: true })
    await count()
    await counts.dropIndexes() // the proxy asks for the indexes again
    await counts.createIndex({ name: 1 }, { unique: true })
    link.become('cut')
    assert.ok(await failure(count()))
    link.become('open')
    const isBack = () =>
      count().then(
        () => true,
        () => false,
      )
    await eventually('the server is found again', isBack)
    assert.equal((await counts.findOne({ name: 'a' }))?.n, 2)
    await linked.close()
    await behind.stop()
    await link.stop()
  })
})
