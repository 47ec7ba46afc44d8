import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { ApplyBatchResponseOutcome as Outcome } from '@rollcall/protos/gen/audience-v1.ts'
import { type Answer, startTestImport, type TestImport } from '../../test/import.ts'

/** A fake audience that creates every row except those named "Refused". */
const refusing: Answer = ({ rows }) => ({
  outcomes: rows.map(({ name }): Outcome => (name === 'Refused' ? 'FAILED' : 'CREATED')),
  failures: rows
    .filter(({ name }) => name === 'Refused')
    .map(({ row }) => ({
      row,
      field: 'attributes.city',
      value: '',
      code: 'missing_field',
      message: 'is missing',
    })),
})

const fileOf = (...rows: [email: string, name: string][]) =>
  `email,name\n${rows.map(([email, name]) => `${email},${name}\n`).join('')}`

describe('rows of one email', () => {
  let test: TestImport
  before(async () => {
    test = await startTestImport()
    test.answer = answering
  })
  after(() => test.stop())

  let sent: number[] = []
  const answering: Answer = request => {
    if (!request.dryRun) sent.push(...request.rows.map(({ row }) => row))
    return refusing(request)
  }
  const run = async (file: string, options: object = {}) => {
    sent = []
    const call = test.newCall()
    const jobId = await test.start(call, file, options)
    await test.runSlice(call)
    return test.job(call, jobId)
  }

  const several = fileOf(
    ['a@x.org', 'A'],
    ['b@x.org', 'B'],
    ['A@X.org', 'A'],
    ['not one', 'N'],
    ['a@x.org', 'A'],
    ['b@x.org', 'B'],
  )
  for (const [strategy, winning] of [
    ['update', [5, 6]],
    ['skip', [1, 2]],
  ] as const) {
    it(`lose to the ${strategy === 'update' ? 'last' : 'first'} under ${strategy}`, async () => {
      const { counts, duplicatesInFile } = await run(several, { duplicateStrategy: strategy })
      assert.deepEqual(sent, winning)
      assert.deepEqual([counts.created, counts.skipped, counts.failed, duplicatesInFile], [2, 3, 1, 3])
    })
  }

  it('do not lose to one that the audience refuses', async () => {
    const file = fileOf(['a@x.org', 'First'], ['A@x.org', 'Second'], ['a@X.org', 'Refused'], ['b@x.org', 'Refused'])
    const { state, counts, errors } = await run(file)
    assert.deepEqual(sent, [2, 4])
    assert.deepEqual([state, counts.created, counts.skipped, counts.failed], ['completed', 1, 1, 2])
    assert.deepEqual(
      errors.map(({ row, line, column, field, code }) => [row, line, column, field, code]),
      [
        [3, 4, null, 'attributes.city', 'missing_field'],
        [4, 5, null, 'attributes.city', 'missing_field'],
      ],
    )
  })

  it('nor to one that cannot be read, however far apart they are', async () => {
    const filler = Array.from({ length: 2_500 }, (_, index): [string, string] => [`p${index}@x.org`, 'P'])
    const rows = fileOf(['a@x.org', 'Refused'], ['A@x.org', 'A'], ...filler, ['a@x.org', 'x'.repeat(300)])
    const { counts, duplicatesInFile } = await run(rows, { duplicateStrategy: 'skip' })
    assert.ok(sent.includes(2) && !sent.includes(1) && !sent.includes(2_503))
    assert.deepEqual([counts.created, counts.skipped, counts.failed, duplicatesInFile], [2_501, 0, 2, 2])
  })

  const pairs = (count: number) =>
    fileOf(...Array.from({ length: count }, (_, index): [string, string] => [`p${index >> 1}@x.org`, `P${index}`]))

  it('are looked for no longer where the worker stops', async () => {
    const call = test.newCall()
    const jobId = await test.start(call, pairs(4_000))
    await assert.rejects(test.runSlice(call, AbortSignal.abort()), { name: 'AbortError' })
    assert.equal((await test.job(call, jobId)).rowStatuses, null)
    const stop = new AbortController()
    let calls = 0
    test.answer = request => {
      calls++
      stop.abort()
      return answering(request)
    }
    await assert.rejects(test.runSlice(call, stop.signal), { name: 'AbortError' })
    assert.equal(calls, 1)
    test.answer = answering
    await test.runSlice(call)
    const { state, counts } = await test.job(call, jobId)
    assert.deepEqual([state, counts.created, counts.skipped], ['completed', 2_000, 2_000])
  })

  it('are searched in time slices, alternating with other organizations', async () => {
    const [call, other] = [test.newCall(), test.newCall()]
    const [jobId, waiting] = [await test.start(call, pairs(4_000)), await test.start(other, pairs(2))]
    test.context.sliceMs = 0
    let calls = 0
    test.answer = request => {
      calls++
      return answering(request)
    }
    for (let slice = 1; slice <= 3; slice++) {
      await test.runSlice(call)
      const { state, unchecked } = await test.job(call, jobId)
      assert.deepEqual([state, unchecked?.row, calls], ['active', slice * 1_000, slice])
    }
    test.context.sliceMs = 60_000
    await test.runSlice(call)
    await test.runSlice(other)
    const { state, counts } = await test.job(call, jobId)
    assert.deepEqual([state, counts.created, counts.skipped], ['completed', 2_000, 2_000])
    assert.equal((await test.job(other, waiting)).state, 'completed')
  })
})
