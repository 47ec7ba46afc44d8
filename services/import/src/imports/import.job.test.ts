import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createAll, startTestImport, type TestImport } from '../../test/import.ts'

const FILE = 'email,name\na@example.com,A\nb@example.com,B\n'

describe('the job of an import', () => {
  let test: TestImport
  before(async () => {
    test = await startTestImport()
  })
  after(() => test.stop())

  it('keeps of what failed as much as can be shown', async () => {
    const call = test.newCall()
    const long = '名'.repeat(60_000)
    const rows = Array.from({ length: 110 }, (_, index) => index + 1)
    const jobId = await test.start(call, `email,name\n${rows.map(row => `p${row}@example.com,P\n`).join('')}`)
    test.answer = ({ rows }) => ({
      outcomes: rows.map(() => 'FAILED'),
      failures: rows.map(({ row }) => ({
        row,
        field: 'name',
        value: long,
        code: 'request.invalid_field',
        message: long,
      })),
    })
    await test.runSlice(call)
    const { state, errors, counts } = await test.job(call, jobId)
    assert.deepEqual([state, counts.failed, errors.length], ['completed', 110, 100])
    assert.ok(errors.every(({ value, message }) => value.length === 200 && message.length === 1_000))
  })

  it('publishes why it failed, once', async () => {
    const call = test.newCall()
    const jobId = await test.start(call, FILE)
    await test.context.collections.of(call.caller.organizationId).chunks.deleteMany({})
    test.answer = createAll
    await test.runSlice(call)
    assert.equal((await test.job(call, jobId)).state, 'failed')
    const [event, ...more] = await test.events(jobId)
    assert.deepEqual(more, [])
    assert.equal(event!.type, 'audience.import_failed')
    const outcomes = { total: 2, created: 0, updated: 0, unchanged: 0, skipped: 0, failed: 0 }
    assert.deepEqual(event!.data, { jobId, reason: 'the uploaded file is not there any more', ...outcomes })
  })

  it('is given no row that one record cannot hold', async () => {
    const [headers, cells] = [0, 1].map(line =>
      Array.from({ length: 80 }, (_, n) => (line ? '名'.repeat(60_000) : `c${n}`)),
    )
    const file = `email,name,${headers}\na@example.com,A,b\nb@example.com,B,${cells}\n`
    await assert.rejects(
      test.start(test.newCall(), file),
      /^AppError: line 3: a row is longer than 4194304 characters$/,
    )
  })

  it('lets the others of its organization go first where it fails time and again', async () => {
    const call = test.newCall()
    const stuck = await test.start(call, FILE)
    const next = await test.start(call, FILE)
    const order: string[] = []
    test.answer = request => {
      order.push(request.jobId)
      if (request.jobId === stuck) throw new Error('cannot be done')
      return createAll(request)
    }
    const runSlices = async (count: number) => {
      for (let slice = 0; slice < count; slice++) await test.runSlice(call).catch(() => undefined)
    }
    await runSlices(4)
    assert.deepEqual(new Set(order), new Set([stuck]), 'a short disturbance does not change the order')
    await runSlices(2)
    assert.equal((await test.job(call, next)).state, 'completed')
    test.answer = createAll
    await runSlices(1)
    assert.equal((await test.job(call, stuck)).state, 'completed')
  })

  it('takes no result of a worker that has lost it to another', async () => {
    const call = test.newCall()
    const workers = [0, 1].map(() => ({
      asked: Promise.withResolvers<void>(),
      answered: Promise.withResolvers<void>(),
    }))
    const [former, latter] = workers as [(typeof workers)[0], (typeof workers)[0]]
    const order = workers.values()
    test.answer = async request => {
      const { asked, answered } = order.next().value!
      asked.resolve()
      await answered.promise
      return createAll(request)
    }
    const jobId = await test.start(call, FILE)
    const formerSlice = test.runSlice(call)
    await former.asked.promise
    const latterSlice = test.runSlice(call)
    await latter.asked.promise
    former.answered.resolve()
    assert.equal(await formerSlice, 'again')
    const { state, counts } = await test.job(call, jobId)
    assert.deepEqual([state, counts.created], ['active', 0])
    latter.answered.resolve()
    assert.equal(await latterSlice, 'again')
    const ended = await test.job(call, jobId)
    assert.deepEqual([ended.state, ended.counts.created], ['completed', 2])
    assert.equal((await test.events(jobId)).length, 1)
    test.answer = createAll
  })

  it('keeps its place where the audience is away altogether', async () => {
    const call = test.newCall()
    const [first, second] = [await test.start(call, FILE), await test.start(call, FILE)]
    const { describeAttributes } = test.context.attributes
    test.context.attributes.describeAttributes = async () => {
      throw new Error('away')
    }
    for (let slice = 0; slice < 12; slice++) await assert.rejects(test.runSlice(call))
    test.context.attributes.describeAttributes = describeAttributes
    await test.runSlice(call)
    const states = await Promise.all([first, second].map(async id => (await test.job(call, id)).state))
    assert.deepEqual(states, ['completed', 'waiting'])
  })
})
