import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createMetrics } from '@rollcall/runtime'
import { eventually } from '@rollcall/testing/eventually'
import { startTestImport, type TestImport } from '../../test/import.ts'
import { expireFailuresJob } from './expire-failures.job.ts'
import { failedRow, storeFailures } from './failed-rows.ts'
import { imports } from './imports.ts'

const DAY_MS = 24 * 3_600_000

describe('what an import keeps', () => {
  let test: TestImport
  before(async () => {
    test = await startTestImport()
  })
  after(() => test.stop())

  it('of failed rows and of a dry run is deleted 30 days after its end', async () => {
    test.answer = ({ rows }) => ({
      outcomes: rows.map(() => 'FAILED'),
      failures: rows.map(({ row }) => ({
        row,
        field: 'name',
        value: 'v',
        code: 'request.invalid_field',
        message: 'm',
      })),
    })
    const call = test.newCall()
    const { imports: jobs, failedRows } = test.context.collections.of(call.caller.organizationId)
    const ended = async (daysAgo: number) => {
      const _id = await test.start(call, 'email,name\na@example.com,A\nb@example.com,B\n')
      await test.runSlice(call)
      await jobs.updateOne({ _id }, { $set: { finishedAt: new Date(Date.now() - daysAgo * DAY_MS) } })
      return _id
    }
    const [recent, old] = [await ended(29), await ended(31)]
    const rowsOf = (job: string) => failedRows.count({ job })
    assert.deepEqual([await rowsOf(recent), await rowsOf(old)], [2, 2])
    const job = expireFailuresJob(test.context)
    job.start({ logger: test.context.logger, metrics: createMetrics('test') })
    await eventually('the old rows are deleted', async () => (await rowsOf(old)) === 0)
    await eventually('the old errors are blanked', async () => (await test.job(call, old)).errors.length === 0)
    await job.stop()
    assert.deepEqual([await rowsOf(recent), (await test.job(call, recent)).errors.length], [2, 2])
    assert.equal((await test.job(call, old)).counts.failed, 2)
  })

  it('of rows that a worker stored when the import was cancelled is deleted as well', async () => {
    const call = test.newCall()
    const tenant = test.context.collections.of(call.caller.organizationId)
    const _id = await test.start(call, 'email,name\na@example.com,A\n')
    await imports(test.context).cancelImport({ jobId: _id }, call)
    const failure = { row: 1, line: 2, column: null, field: null, value: '', code: 'code', message: 'm' }
    const source = { row: 1, line: 2, cells: ['a@example.com', 'A'], error: null }
    await storeFailures(tenant, [failedRow(await test.job(call, _id), source, failure)])
    const finishedAt = new Date(Date.now() - 31 * DAY_MS)
    await tenant.imports.updateOne({ _id }, { $set: { finishedAt }, $unset: { failuresExpired: 1 } }) // of a former release
    const job = expireFailuresJob(test.context)
    job.start({ logger: test.context.logger, metrics: createMetrics('test') })
    await eventually('the rows are deleted', async () => (await tenant.failedRows.count({ job: _id })) === 0)
    await eventually('the import is marked', async () => (await test.job(call, _id)).failuresExpired)
    await job.stop()
  })

  it('of an upload has a time at which the database deletes it', async () => {
    const call = test.newCall()
    await test.start(call, 'email,name\na@example.com,A\n')
    const { uploads, chunks } = test.context.collections.of(call.caller.organizationId)
    for (const scope of [uploads, chunks]) {
      const kept = await (scope as typeof uploads).find({})
      assert.ok(kept.length > 0)
      for (const { purgeAt } of kept) assert.ok(purgeAt.getTime() <= Date.now() + 30 * DAY_MS)
      const indexes = await scope.model.collection.indexes()
      assert.ok(indexes.some(({ key, expireAfterSeconds }) => key.purgeAt === 1 && expireAfterSeconds === 0))
    }
  })
})
