import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { AppError } from '@rollcall/contract'
import type { Call, Caller } from '@rollcall/rpc'
import type { Store } from '@rollcall/store'
import { startTestImport, type TestImport } from '../../test/import.ts'
import type { Context } from '../context.ts'
import { uploadImport } from '../uploads/upload-import.ts'
import { startImport } from './start-import.ts'

describe('the start of an import', () => {
  let test: TestImport
  before(async () => {
    test = await startTestImport()
  })
  after(() => test.stop())

  const startAs = (permissions: Caller['permissions'], listIds: string[]) => {
    const call = test.newCall()
    const token = { ...call.caller, kind: 'token', permissions } as const
    return test.start({ ...call, caller: token }, 'email,name\na@example.com,A\n', { listIds })
  }
  const list = 'a'.repeat(24)

  it('with lists needs the permission that adding to a list needs', async () => {
    await assert.rejects(startAs(['audience.create'], [list]), {
      code: 'access.permission_denied',
      message: 'Permission denied: audience_lists.create',
    })
    assert.ok(await startAs(['audience.create', 'audience_lists.create'], [list]))
    assert.ok(await startAs('*', [list]))
  })

  it('asks for that permission before it looks at the upload', async () => {
    const { caller, ...call } = test.newCall()
    const token = { ...caller, kind: 'token', permissions: ['audience.create'] } as const
    const request = { importId: 'f'.repeat(24), mapping: {}, tags: [], listIds: [list] }
    const start = startImport(test.context, request, { ...call, caller: token })
    await assert.rejects(start, { code: 'access.permission_denied' })
  })

  it('without lists does not', async () => {
    assert.ok(await startAs(['audience.create'], []))
  })

  const upload = async (call: Call) => {
    const file = async function* () {
      yield { fileName: 'a.csv', chunk: Buffer.from('email,name\na@example.com,A\n') }
    }
    return JSON.parse(String((await uploadImport(test.context, file(), call)).data)).importId as string
  }
  const start = (call: Call, importId: string, context = test.context) =>
    startImport(context, { importId, mapping: { email: 'email', name: 'name' }, tags: [], listIds: [] }, call)
  /** When the database deletes a file, and its record. */
  const purgeTimes = async ({ caller }: Call, importId: string) => {
    const { uploads, chunks } = test.context.collections.of(caller.organizationId)
    const found = [await uploads.findOne({ _id: importId }), await chunks.findOne({ upload: importId })]
    return found.map(record => record!.purgeAt.getTime())
  }
  /** A replica that does something before its transaction. */
  const replica = (before: () => Promise<unknown>): Context => {
    const transaction: Store['transaction'] = async (work, options) => {
      await before()
      return test.context.store.transaction(work, options)
    }
    return { ...test.context, store: { ...test.context.store, transaction } }
  }
  const refuse = async () => {
    throw new AppError('service.unavailable', {})
  }
  const DAYS_MS = 6 * 24 * 3_600_000

  it('keeps the file longer only if it is accepted', async () => {
    const call = test.newCall()
    const importId = await upload(call)
    const before = await purgeTimes(call, importId)
    const limited = { ...test.context, quotas: { ...test.context.quotas, unfinishedJobs: 0 } }
    await assert.rejects(start(call, importId, limited), { code: 'quota.too_many_pending' })
    assert.deepEqual(await purgeTimes(call, importId), before)
    await assert.rejects(start(call, importId, replica(refuse)), { code: 'service.unavailable' })
    assert.deepEqual(await purgeTimes(call, importId), before)
    await start(call, importId)
    for (const time of await purgeTimes(call, importId)) assert.ok(time > Date.now() + DAYS_MS)
  })

  it('that is refused shortens nothing for a concurrent one that is accepted', async () => {
    const call = test.newCall()
    const assertKept = async (importId: string) => {
      for (const time of await purgeTimes(call, importId)) assert.ok(time > Date.now() + DAYS_MS)
    }
    const earlier = await upload(call)
    const acceptedBefore = () => start(call, earlier).then(refuse)
    await assert.rejects(start(call, earlier, replica(acceptedBefore)), { code: 'service.unavailable' })
    await assertKept(earlier)
    const later = await upload(call)
    const refusedBefore = () => assert.rejects(start(call, later, replica(refuse)), { code: 'service.unavailable' })
    await start(call, later, replica(refusedBefore))
    await assertKept(later)
  })
})
