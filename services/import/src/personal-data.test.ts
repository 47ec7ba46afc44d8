import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { HttpBody } from '@rollcall/contract'
import type { ApplyBatchRequestRow } from '@rollcall/protos/gen/audience-v1.ts'
import type { Call } from '@rollcall/rpc'
import { personOf } from '@rollcall/service'
import type { Store } from '@rollcall/store'
import { eventually } from '@rollcall/testing/eventually'
import { type Answer, createAll, startTestImport, type TestImport } from '../test/import.ts'
import { imports } from './imports/imports.ts'
import { startImport } from './imports/start-import.ts'
import { personalData } from './personal-data.ts'

describe('the erasure of a person', () => {
  let test: TestImport
  before(async () => {
    test = await startTestImport()
  })
  after(() => test.stop())

  const erase = async ({ caller: { organizationId } }: Call, context = test.context) => {
    const who = { contactId: 'b'.repeat(24), emailKeys: ['anna@example.com'], names: ['Anna'] }
    for (const held of Object.values(personalData))
      if (held !== 'none' && typeof held.erase === 'function')
        await held.erase(context, personOf({ organizationId, ...who }))
  }
  /** All records of an organization but the bytes of files, as JSON. */
  const stored = async ({ caller }: Call) => {
    const { uploads, imports, failedRows } = test.context.collections.of(caller.organizationId)
    return JSON.stringify([await uploads.find({}), await imports.find({}), await failedRows.find({})])
  }

  it('takes out of headers, file names and errors what a first row without headers has made of them', async () => {
    const call = test.newCall()
    const noHeaders = 'Anna@example.com,Anna,Oslo\nbob,Bob,\nc@example.com,C,\n'
    const mapping = { 'Anna@example.com': 'email', Anna: 'name' }
    const { imports: jobs } = test.context.collections.of(call.caller.organizationId)
    const finished = await test.start(call, noHeaders, { mapping })
    await jobs.updateOne({ _id: finished }, { $set: { fileName: 'anna@example.com 2026.csv' } })
    await test.runSlice(call)
    const waiting = await test.start(call, noHeaders, { mapping })
    await erase(call)

    const rows: ApplyBatchRequestRow[] = []
    test.answer = request => {
      rows.push(...request.rows)
      return createAll(request)
    }
    await test.runSlice(call)
    assert.deepEqual(
      rows.map(({ email, name }) => [email, name]),
      [['c@example.com', 'C']],
    )
    const { downloadImportErrors, listImportJobs } = imports(test.context)
    const shown = [((await listImportJobs({ list: {} }, call)) as HttpBody).data.toString()]
    for (const jobId of [finished, waiting]) {
      const { state, counts, errors } = await test.job(call, jobId)
      assert.deepEqual([state, counts.created, errors.length], ['completed', 1, 1])
      const file = (await downloadImportErrors({ jobId }, call)) as AsyncIterable<HttpBody>
      for await (const { data } of file) shown.push(data.toString())
    }
    shown.push(await stored(call))
    for (const text of shown) assert.doesNotMatch(text, /anna/i)
  })

  /** A file of a few batches with the person in one row. */
  const fileWith = (annasRow: number) => {
    const rows = Array.from({ length: 2_500 }, (_, index) => `p${index}@example.com,P\n`)
    rows[annasRow - 1] = 'anna@example.com,Anna\n'
    return `email,name\n${rows.join('')}`
  }
  /** Starts an import, and stops its worker when this many batches are on their way. */
  const startBlocked = async (call: Call, annasRow: number, batches = 1) => {
    const [blocked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const sent: string[] = []
    let calls = 0
    test.answer = async request => {
      sent.push(...request.rows.map(({ email }) => email))
      if (++calls === batches) blocked.resolve()
      if (calls <= batches) await released.promise
      return createAll(request)
    }
    const jobId = await test.start(call, fileWith(annasRow))
    const slice = test.runSlice(call)
    await blocked.promise
    return { jobId, slice, release: released.resolve, sent }
  }
  const isErased = async ({ caller }: Call) => {
    const { chunks } = test.context.collections.of(caller.organizationId)
    return (await chunks.find({})).every(({ data }) => !Buffer.from(data.buffer).includes('anna'))
  }

  it('makes a worker discard the rows that it has read', async () => {
    const call = test.newCall()
    const { jobId, slice, release, sent } = await startBlocked(call, 2_400, 2)
    const erased = erase(call)
    await eventually('the row is erased', () => isErased(call))
    release()
    await slice
    await test.runSlice(call)
    await erased
    const { state, counts } = await test.job(call, jobId)
    assert.deepEqual([state, counts.created, counts.failed], ['completed', 2_499, 1])
    assert.equal(sent.includes('anna@example.com'), false)
  })

  it('does so also if it is repeated after a crash', async () => {
    const call = test.newCall()
    const { jobId, slice, release } = await startBlocked(call, 2_400, 2)
    const { fence } = await test.job(call, jobId)
    const { store } = test.context
    const transaction: Store['transaction'] = work =>
      store.transaction(async tx => {
        await work(tx)
        throw new Error('killed')
      })
    await assert.rejects(erase(call, { ...test.context, store: { ...store, transaction } }))
    const erased = erase(call)
    await eventually('the row is erased', () => isErased(call))
    assert.ok((await test.job(call, jobId)).fence > fence)
    release()
    await slice
    await test.runSlice(call)
    await erased
  })

  it('interrupts a job that is started at the same time', async () => {
    const call = test.newCall()
    const { upload } = await test.job(call, await test.start(call, fileWith(1), { dryRun: true }))
    await test.runSlice(call)
    const request = { importId: String(upload), mapping: { email: 'email', name: 'name' }, tags: [], listIds: [] }
    const { store, collections } = test.context
    let jobId: string | undefined
    const transaction: Store['transaction'] = work =>
      store.transaction(async tx => {
        await collections.of(call.caller.organizationId).uploads.findOne({}, { tx }) // what it sees is fixed now
        jobId ??= (await startImport(test.context, { ...request, dryRun: true }, call)).jobId
        return work(tx)
      })
    await erase(call, { ...test.context, store: { ...store, transaction } })
    assert.equal((await test.job(call, jobId!)).fence, 1)
  })

  it('ends after batches that were on their way', async () => {
    const call = test.newCall()
    const { slice, release } = await startBlocked(call, 1)
    const order: string[] = []
    const erased = erase(call).then(() => order.push('erased'))
    await eventually('the row is erased', () => isErased(call))
    const { imports: jobs } = test.context.collections.of(call.caller.organizationId)
    test.answer = async request => {
      for (let reads = 0; reads < 20; reads++) await jobs.find({}) // longer than the rest of an erasure
      order.push(`batch ${request.number}`)
      return createAll(request)
    }
    const next = test.runSlice(call)
    await Promise.all([erased, next])
    assert.deepEqual(order.slice(0, 2).sort(), ['batch 0', 'batch 1'])
    release()
    await slice
  })

  it('leaves no row to be applied later', async () => {
    const call = test.newCall()
    const numbers: number[] = []
    const [blocked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    test.answer = async request => {
      numbers.push(request.number)
      blocked.resolve()
      if (request.rows.length > 0) await released.promise
      return createAll(request)
    }
    const jobId = await test.start(call, 'email,name\nanna@example.com,Anna\n')
    const slice = test.runSlice(call)
    await blocked.promise
    const erased = erase(call)
    await eventually('the row is erased', () => isErased(call))
    await test.runSlice(call)
    await erased
    assert.deepEqual(numbers, [0, 0], 'a batch without the row takes its place')
    const { state, counts } = await test.job(call, jobId)
    assert.deepEqual([state, counts.created, counts.failed], ['completed', 0, 1])
    released.resolve()
    await slice
  })

  it('stores nothing of a row that the audience refuses for it', async () => {
    const call = test.newCall()
    const failure = { row: 1, field: 'email', value: '', code: 'erased', message: 'the contact is being erased' }
    test.answer = () => ({ outcomes: ['FAILED'], failures: [failure] })
    const jobId = await test.start(call, 'email,name\nanna@example.com,Anna\n')
    await test.runSlice(call)
    const { counts, errors } = await test.job(call, jobId)
    assert.deepEqual([counts.failed, errors.map(({ code, column }) => [code, column])], [1, [['erased', 'email']]])
    assert.doesNotMatch(await stored(call), /anna/i)
  })

  it('leaves the number of failed rows as it is, if pass 2 had rejected rows of the person', async () => {
    const call = test.newCall()
    const refusing: Answer = ({ rows }) => ({
      outcomes: rows.map(() => 'FAILED'),
      failures: rows.map(({ row, email }) => ({ row, field: 'email', value: email, code: 'refused', message: 'no' })),
    })
    test.answer = request => {
      if (request.dryRun) return refusing(request)
      throw new Error('away')
    }
    const twice = 'anna@example.com,Anna\n'.repeat(2)
    const jobId = await test.start(call, `email,name\n${twice}b@example.com,B\n`)
    await assert.rejects(test.runSlice(call), /away/)
    await erase(call, { ...test.context, batchTimeoutMs: 0 })
    test.answer = createAll
    await test.runSlice(call)
    const { state, total, counts, errors } = await test.job(call, jobId)
    assert.deepEqual([state, total, counts.created, counts.failed, errors.length], ['completed', 3, 1, 2, 2])
  })

  it('takes whole rows out of files, so that the import stores none of them as failed', async () => {
    const call = test.newCall()
    await test.start(call, 'name,note,email\nAnna,"Street 1\nOslo",anna@example.com\nBob,"x\ny",b@example.com\n')
    await erase(call)
    await test.runSlice(call)
    const { failedRows } = test.context.collections.of(call.caller.organizationId)
    const [failed, ...more] = await failedRows.find({})
    assert.deepEqual([failed?.row, more], [1, []])
    assert.doesNotMatch(await stored(call), /anna|street|oslo/i)
  })
})
