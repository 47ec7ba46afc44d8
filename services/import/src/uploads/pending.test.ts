import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Call } from '@rollcall/rpc'
import { startTestImport, type TestImport } from '../../test/import.ts'
import type { Context } from '../context.ts'
import { imports } from '../imports/imports.ts'
import { startImport } from '../imports/start-import.ts'
import { uploadImport } from './upload-import.ts'

const SMALL = 'email,name\na@example.com,A\n'
const MEBIBYTE = 2 ** 20
const MINUTE = 60_000
const quotas = { pendingUploads: 3, pendingUploadBytes: 8 * MEBIBYTE, unfinishedJobs: 3, dryRuns: 2 }

describe('what an organization has pending', () => {
  let test: TestImport
  /** Another replica, which shares only the database. */
  let replica: Context
  let aheadMs = 0
  before(async () => {
    test = await startTestImport({ quotas, uploadTtlMs: 30 * MINUTE, now: () => Date.now() + aheadMs })
    replica = { ...test.context }
  })
  after(() => test.stop())

  async function* pieces(text: string, fails = false) {
    for (let at = 0; at < text.length; at += MEBIBYTE / 2) {
      yield { fileName: 'a.csv', chunk: Buffer.from(text.slice(at, at + MEBIBYTE / 2)) }
    }
    if (fails) throw new Error('the connection is gone')
  }
  const upload = async (call: Call, text = SMALL, context = test.context) =>
    JSON.parse(String((await uploadImport(context, pieces(text), call)).data)).importId as string
  const start = (call: Call, importId: string, dryRun = false, context = test.context) =>
    startImport(context, { importId, mapping: { email: 'email', name: 'name' }, tags: [], listIds: [], dryRun }, call)
  const stored = (call: Call) => test.context.collections.of(call.caller.organizationId).chunks.count({})
  const many = <T>(count: number, make: (index: number) => Promise<T>) =>
    Promise.allSettled(Array.from({ length: count }, (_, index) => make(index)))
  const accepted = <T>(results: PromiseSettledResult<T>[]): T[] =>
    results.flatMap(result => (result.status === 'fulfilled' ? [result.value] : []))
  const tooMany = (message: string) => ({ code: 'quota.too_many_pending', message, status: 429 })
  const tooManyUploads = tooMany('limit reached: 3 pending uploads per organization')
  const tooManyJobs = tooMany('limit reached: 3 unfinished imports per organization')

  it('is at most so many uploads, whichever replica takes them', async () => {
    const call = test.newCall()
    const results = await many(12, index => upload(call, SMALL, index % 2 ? replica : test.context))
    assert.equal(accepted(results).length, 3)
    for (const result of results) {
      if (result.status === 'rejected')
        assert.throws(() => {
          throw result.reason
        }, tooManyUploads)
    }
    assert.equal(await stored(call), 3, 'what is refused is not stored')
    await upload(test.newCall())
  })

  it('has a limit in bytes, which includes running uploads', async () => {
    const call = test.newCall()
    const file = SMALL + 'b@example.com,somebody of no interest\n'.repeat(80_000) // 3 MiB
    const results = await many(3, index => upload(call, file, index % 2 ? replica : test.context))
    const kept = accepted(results).length
    assert.ok(kept <= 2, `${kept} files of 3 MiB where 8 MiB may be pending`)
    assert.equal(await stored(call), kept * 3)
    for (let left = kept; left < 2; left++) await upload(call, file)
    await assert.rejects(
      upload(call, file),
      tooMany('limit reached: 8388608 bytes of pending uploads per organization'),
    )
    await upload(call)
  })

  it('leaves nothing of an upload that breaks off', async () => {
    const call = test.newCall()
    const text = SMALL.repeat(80_000)
    for (let count = 0; count < 5; count++) {
      await assert.rejects(uploadImport(test.context, pieces(text, true), call), /the connection is gone/)
      assert.equal(await stored(call), 0)
    }
    await upload(call)
  })

  it('includes an upload that takes longer than files are kept, with its file', async () => {
    const call = test.newCall()
    const text = SMALL.repeat(120_000)
    async function* slowly() {
      for await (const piece of pieces(text)) {
        yield piece
        aheadMs += 10 * MINUTE
      }
      await upload(call)
    }
    const { importId, expiresAt } = JSON.parse(String((await uploadImport(test.context, slowly(), call)).data))
    const { chunks, pending } = test.context.collections.of(call.caller.organizationId)
    assert.equal(await chunks.count({ upload: importId }), Math.ceil(text.length / MEBIBYTE))
    assert.equal(await chunks.count({ purgeAt: { $lt: new Date(expiresAt) } }), 0)
    assert.equal((await pending.findOne({}))?.uploads.length, 2)
  })

  it('is free again once an upload is started', async () => {
    const call = test.newCall()
    const [first] = accepted(await many(3, () => upload(call)))
    await assert.rejects(upload(call), tooManyUploads)
    await start(call, first!)
    await upload(call)
    await assert.rejects(upload(call), tooManyUploads)
  })

  it('is free again once an upload has expired, and its file is gone; one that a dry run reads stays', async () => {
    const call = test.newCall()
    const [first] = accepted(await many(3, () => upload(call)))
    await start(call, first!, true)
    aheadMs += 29 * MINUTE
    await assert.rejects(upload(call), tooManyUploads)
    aheadMs += 3 * MINUTE
    await upload(call)
    assert.equal(await stored(call), 2)
    await test.runSlice(call)
    const { docs } = JSON.parse(
      String(((await imports(test.context).listImportJobs({}, call)) as { data: Buffer }).data),
    )
    assert.equal(docs[0].state, 'completed')
  })

  it('is at most so many unfinished jobs, dry runs and undos among them', async () => {
    const call = test.newCall()
    const importId = await upload(call)
    const finished = (await start(call, await upload(call))).jobId
    await test.runSlice(call)
    const others = await many(2, () => upload(call))
    const results = await many(6, index =>
      start(call, accepted(others)[index % 2]!, index < 2, index % 2 ? replica : test.context),
    )
    const jobs = new Set(accepted(results).map(({ jobId }) => jobId))
    assert.equal(jobs.size, 3)
    await assert.rejects(start(call, importId), tooManyJobs)
    await assert.rejects(imports(test.context).undoImport({ jobId: finished }, call), tooManyJobs)
    await test.runSlice(call)
    await start(call, importId)
  })

  it('is at most so many dry runs of an upload, one after the other', async () => {
    const call = test.newCall()
    const importId = await upload(call)
    for (let count = 0; count < 2; count++) {
      await start(call, importId, true)
      await test.runSlice(call)
    }
    const refused = { code: 'quota.exceeded', status: 409, message: 'limit reached: 2 dry runs per upload' }
    await assert.rejects(start(call, importId, true), refused)
    await start(call, importId)
  })

  it('holds no file of an import that was cancelled', async () => {
    const call = test.newCall()
    const { jobId } = await start(call, await upload(call))
    assert.equal(await stored(call), 1)
    await imports(test.context).cancelImport({ jobId }, call)
    assert.equal(await stored(call), 0)
  })
})

describe('an upload', () => {
  it('can be started until its time is over, to the millisecond', async () => {
    let now = Date.now()
    const test = await startTestImport({ uploadTtlMs: 30 * MINUTE, now: () => now })
    try {
      const call = test.newCall()
      const body = await uploadImport(
        test.context,
        (async function* () {
          yield { fileName: 'a.csv', chunk: Buffer.from(SMALL) }
        })(),
        call,
      )
      const { importId, expiresAt } = JSON.parse(String(body.data))
      assert.equal(expiresAt, new Date(now + 30 * MINUTE).toISOString())
      const request = { importId, mapping: { email: 'email', name: 'name' }, tags: [], listIds: [] }
      now += 30 * MINUTE - 1
      await startImport(test.context, { ...request, dryRun: true }, call)
      now += 1
      const message = 'Import data expired. Please re-upload the CSV file.'
      await assert.rejects(startImport(test.context, request, call), { code: 'import.expired', message })
      now -= 1_000 // 29:59
      await startImport(test.context, request, call)
    } finally {
      await test.stop()
    }
  })
})
