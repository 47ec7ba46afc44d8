import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import { quiet, testStore } from '../../test/store.ts'
import { isTransient } from './errors.ts'
import { watchSessions } from './orphans.ts'

describe('sessions of the dead', () => {
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

  it('cost a process that only slept no more than to begin again', async () => {
    const { store, drop } = await testStore()
    const watch = watchSessions(store.connection, quiet)
    const sleeper = await store.connection.startSession()
    await watch.register(sleeper)
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
})
