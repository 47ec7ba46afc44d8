import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import { pause } from '@rollcall/runtime'
import { eventually } from '@rollcall/testing/eventually'
import { linkTo } from '@rollcall/testing/link'
import { startMongod } from '@rollcall/testing/mongod/proxy'
import { scaledTimeout } from '@rollcall/testing/scaled-timeout'
import { type ClientSession, mongo } from 'mongoose'
import { quiet, testStore } from '../../test/store.ts'
import { isTransient } from './errors.ts'
import { watchSessions } from './orphans.ts'

describe('sessions of the dead', { concurrency: true }, () => {
  it('are ended by those who live, within seconds', async () => {
    const { store, drop } = await testStore()
    const records = store.connection.collection('records')
    await records.insertOne({ by: 'nobody' })
    const child = spawn(
      process.execPath,
      [new URL('../../test/orphans.child.ts', import.meta.url).pathname, store.connection.name],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    )
    await once(child.stdout, 'data')
    child.kill('SIGKILL')
    await once(child, 'exit')

    let attempts = 0
    const startedAt = performance.now()
    await store.transaction(async session => {
      attempts++
      await records.updateOne({}, { $set: { by: 'the living' } }, { session })
    })
    assert.ok(attempts > 1, 'the lock was held')
    assert.ok(performance.now() - startedAt < 10_000)
    assert.equal((await records.findOne({}))?.by, 'the living')
    await drop()
  })

  it('are recorded while a process has transactions, and not while it is idle', async () => {
    const { store, drop } = await testStore()
    const processes = store.connection.collection('processes')
    const transaction = () => store.transaction(() => processes.countDocuments())
    assert.equal(await transaction(), 1)
    await eventually('the record is removed', async () => (await processes.countDocuments()) === 0, { everyMs: 500 })
    assert.equal(await transaction(), 1)
    await drop()
  })

  it('cost a process that only slept no more than to begin again', async () => {
    const { store, drop } = await testStore()
    const watch = watchSessions(store.connection, quiet)
    const sleeper = await store.connection.startSession()
    await watch.begin(sleeper)
    await watch.stop() // no more heartbeats; only the record of a suspended process remains
    const id = sleeper.id!.id
    await store.connection.collection('processes').insertOne({ beat: 1, sessions: [id] } as never)
    const records = store.connection.collection('records')
    await records.insertOne({ n: 0 })
    sleeper.startTransaction()
    await records.updateOne({}, { $inc: { n: 1 } }, { session: sleeper })
    await store.transaction(session => records.updateOne({}, { $inc: { n: 10 } }, { session }))
    await assert.rejects(sleeper.commitTransaction(), isTransient)
    await sleeper.endSession()
    assert.equal((await records.findOne({}))?.n, 10)
    await drop()
  })

  it('are all recorded, however long a heartbeat is under way', async () => {
    const { store, drop } = await testStore()
    const processes = store.connection.collection<{ sessions: unknown[] }>('processes')
    const delaysMs = [300, 0]
    const updateOne = async (...args: Parameters<typeof processes.updateOne>) => {
      await pause(delaysMs.shift() ?? 0)
      return processes.updateOne(...args)
    }
    const db = { collection: () => ({ ...processes, updateOne, deleteOne: () => Promise.resolve() }) }
    const watch = watchSessions({ db } as never, quiet)
    const sessions = [await store.connection.startSession(), await store.connection.startSession()]
    const first = watch.begin(sessions[0]!)
    await pause(50) // its heartbeat is under way
    await Promise.all([first, watch.begin(sessions[1]!)])
    assert.equal((await processes.findOne({}))?.sessions.length, 2)
    await watch.stop()
    await Promise.all(sessions.map(session => session.endSession()))
    await drop()
  })

  it('are not those of a process whose heartbeats are slow', async () => {
    const { store, drop } = await testStore()
    const [busy, idle] = [watchSessions(store.connection, quiet), watchSessions(store.connection, quiet)]
    const [processes, records] = [store.connection.collection('processes'), store.connection.collection('records')]
    await records.insertOne({ n: 0 })
    const session = await store.connection.startSession()
    await busy.begin(session)
    await eventually('all processes are known', async () => (await processes.countDocuments()) === 3)
    session.startTransaction()
    await records.updateOne({}, { $inc: { n: 1 } }, { session })
    // Heartbeats wait for this transaction, and reads do not.
    await store.transaction(async tx => {
      await processes.updateMany({}, { $set: { held: true } }, { session: tx })
      await pause(6000)
    })
    await session.commitTransaction()
    await session.endSession()
    assert.equal((await records.findOne({}))?.n, 1)
    await Promise.all([busy.stop(), idle.stop()])
    await drop()
  })

  it('are not those of a process whose writes wait for a slow majority', async t => {
    const mongod = await startMongod({ target: process.env.MONGODB_URL! })
    const { store, drop } = await testStore({ url: mongod.url, timeoutMs: 30_000 })
    const { store: idle } = await testStore({ url: mongod.url, dbName: store.connection.name })
    t.after(async () => {
      mongod.behaviour.majorityMs = 0
      await idle.close()
      await drop()
      await mongod.stop()
    })
    await store.transaction(async () => {}) // registers the session that the next one uses
    mongod.behaviour.majorityMs = 4000
    let attempts = 0
    await store.transaction(async session => {
      attempts++
      await store.connection.collection('records').insertOne({}, { session })
      await pause(6000)
    })
    assert.equal(attempts, 1)
  })

  it('cost a living process whose command was ended no more than to begin again', async () => {
    const mongod = await startMongod({ target: process.env.MONGODB_URL! })
    const { store, drop } = await testStore({ url: mongod.url })
    const records = store.connection.collection('records')
    await records.insertOne({ n: 0 })
    let attempts = 0
    await store.transaction(async session => {
      const isFirst = ++attempts === 1
      mongod.behaviour.latencyMs = isFirst ? 500 : 0
      const command = records.updateOne({}, { $inc: { n: 1 } }, { session })
      const kill = { killSessions: [{ id: session.id!.id }] }
      await Promise.all([command, isFirst && store.connection.db!.admin().command(kill)])
    })
    assert.deepEqual([attempts, (await records.findOne({}))?.n], [2, 1])
    const commitOf = (session: ClientSession) => session.commitTransaction.bind(session)
    let commits = 0
    await store.transaction(async session => {
      const commit = commitOf(session)
      session.commitTransaction = async () => {
        await commit()
        if (++commits === 1)
          throw new mongo.MongoServerError({ ok: 0, code: 11601, errmsg: 'operation was interrupted' })
      }
    })
    assert.equal(commits, 2)
    await drop()
    await mongod.stop()
  })

  it('are left to the server where it refuses to end them, which is logged once', async () => {
    const warnings: string[] = []
    const warn = (_: object, text: string) => void warnings.push(text)
    const { store, drop } = await testStore({ logger: { ...quiet, warn } as never })
    const refuse = async () => {
      throw new mongo.MongoServerError({ ok: 0, code: 59, errmsg: 'no such command: killSessions' })
    }
    store.connection.db!.admin = () => ({ command: refuse }) as unknown as mongo.Admin
    const processes = store.connection.collection('processes')
    const sessions = [new mongo.Binary(randomBytes(16), 4)]
    await processes.insertMany([
      { beat: 1, sessions },
      { beat: 1, sessions },
    ])
    await eventually('the processes are removed', async () => (await processes.countDocuments({ sessions })) === 0)
    assert.equal(warnings.filter(text => text.startsWith('killSessions')).length, 1)
    await drop()
  })

  it('are ended by their own process where the connection broke in a transaction', async () => {
    const mongod = await startMongod({ target: process.env.MONGODB_URL! })
    const link = await linkTo(mongod.url)
    const { store, drop } = await testStore({ url: link.url, timeoutMs: scaledTimeout(5000) })
    const records = store.connection.collection('records')
    await records.insertOne({ n: 0 })
    const increment = (session: ClientSession) => records.updateOne({}, { $inc: { n: 1 } }, { session })
    const broken = store.transaction(
      async session => {
        await increment(session)
        link.become('cut')
        await increment(session)
      },
      { timeoutMs: 500 },
    )
    await assert.rejects(broken)
    link.become('open')
    await store.transaction(increment)
    assert.equal((await records.findOne({}))?.n, 1)
    await drop()
    await link.stop()
    await mongod.stop()
  })

  it('are forgotten where the database was away', async () => {
    const link = await linkTo(process.env.MONGODB_URL!)
    const { store, drop } = await testStore({ url: link.url, timeoutMs: scaledTimeout(500) })
    const records = store.connection.collection('records')
    const write = () => store.transaction(session => records.insertOne({}, { session }))
    await write()
    link.become('cut')
    for (let request = 0; request < 6; request++) await assert.rejects(write())
    link.become('open')
    await write()
    const [record] = await store.connection.collection('processes').find().toArray()
    assert.ok(record!.sessions.length <= 3, `${record!.sessions.length} sessions`) // of both ends, and one that broke off
    await drop()
    await link.stop()
  })
})
