import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createAll, startTestImport, type TestImport } from '../../test/import.ts'
import { imports } from './imports.ts'

describe('an import that is cancelled', () => {
  let test: TestImport
  before(async () => {
    test = await startTestImport()
  })
  after(() => test.stop())

  const file = `email,name\n${Array.from({ length: 5_000 }, (_, index) => `p${index}@x.org,P\n`).join('')}`
  const cancel = (call: ReturnType<TestImport['newCall']>, jobId: string) =>
    imports(test.context).cancelImport({ jobId }, call)

  /** An audience that blocks batches from this one on until it is released, and records what it applied. */
  const holding = (from: number) => {
    const [held, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const known = new Map<number, number>()
    test.answer = async request => {
      const { number, rows, settle } = request
      if (settle) {
        if (!known.has(number)) known.set(number, 0)
        return { outcomes: Array.from({ length: known.get(number)! }, () => 'CREATED') }
      }
      if (number > from) {
        held.resolve()
        await released.promise
      }
      if (known.has(number)) return { outcomes: rows.map(() => 'SKIPPED') }
      known.set(number, rows.length)
      if (number === from) await released.promise
      return createAll(request)
    }
    const applied = () => [...known.values()].reduce((sum, count) => sum + count, 0)
    return { held: held.promise, release: released.resolve, applied }
  }

  it('says of all that stays that it was done, and does no more', async () => {
    const call = test.newCall()
    const { held, release, applied } = holding(1)
    const jobId = await test.start(call, file)
    const slice = test.runSlice(call)
    await held // two batches are counted or applied, the third is on its way
    await cancel(call, jobId)
    const { state, failedReason, counts, rowStatuses } = await test.job(call, jobId)
    assert.deepEqual([state, failedReason, counts.created, rowStatuses], ['failed', 'cancelled', 2_000, null])
    release()
    assert.equal(await slice, 'again')
    assert.equal(applied(), 2_000)
    assert.equal((await test.job(call, jobId)).counts.created, 2_000)
    assert.equal(await test.runSlice(call), 'done')
    const [event, ...more] = await test.events(jobId)
    assert.deepEqual(more, [])
    assert.equal(event!.type, 'audience.import_cancelled')
    const outcomes = { total: 5_000, created: 2_000, updated: 0, unchanged: 0, skipped: 0, failed: 0 }
    assert.deepEqual(event!.data, { jobId, ...outcomes })
  })

  it('ends when the audience can be asked again', async () => {
    const call = test.newCall()
    const { held, release } = holding(1)
    const jobId = await test.start(call, file)
    const slice = test.runSlice(call)
    await held
    const { answer } = test
    test.answer = () => Promise.reject(new Error('away'))
    await cancel(call, jobId)
    assert.equal((await test.job(call, jobId)).state, 'active')
    await assert.rejects(test.runSlice(call))
    test.answer = answer
    await test.runSlice(call)
    const { state, failedReason, counts } = await test.job(call, jobId)
    assert.deepEqual([state, failedReason, counts.created], ['failed', 'cancelled', 2_000])
    release()
    await slice
  })

  it('ends at once where it has not begun', async () => {
    const call = test.newCall()
    test.answer = () => Promise.reject(new Error('away'))
    const jobId = await test.start(call, file)
    await cancel(call, jobId)
    assert.equal((await test.job(call, jobId)).state, 'failed')
    await assert.rejects(cancel(call, jobId), { code: 'import.finished', message: 'the import has finished' })
    test.answer = createAll
  })
})
