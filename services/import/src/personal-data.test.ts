import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { HttpBody } from '@rollcall/contract'
import type { ApplyBatchRequestRow } from '@rollcall/protos/gen/audience-v1.ts'
import type { Call } from '@rollcall/rpc'
import { personOf } from '@rollcall/service'
import { createAll, startTestImport, type TestImport } from '../test/import.ts'
import { imports } from './imports/imports.ts'
import { personalData } from './personal-data.ts'

describe('the erasure of a person', () => {
  let test: TestImport
  before(async () => {
    test = await startTestImport()
  })
  after(() => test.stop())

  const erase = async ({ caller: { organizationId } }: Call) => {
    const who = { contactId: 'b'.repeat(24), emailKeys: ['anna@example.com'], names: ['Anna'] }
    for (const held of Object.values(personalData))
      if (held !== 'none' && typeof held.erase === 'function')
        await held.erase(test.context, personOf({ organizationId, ...who }))
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
