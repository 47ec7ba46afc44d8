import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Caller } from '@rollcall/rpc'
import { startTestImport, type TestImport } from '../../test/import.ts'
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
})
