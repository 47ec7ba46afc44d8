import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { HttpBody } from '@rollcall/contract'
import type { Call } from '@rollcall/rpc'
import { startTestImport, type TestImport } from '../../test/import.ts'
import { imports } from './imports.ts'

type Job = Record<string, unknown> & { id: string; result: Record<string, unknown> }

describe('the list of imports', () => {
  let test: TestImport
  let call: Call
  before(async () => {
    test = await startTestImport()
    call = test.newCall()
    for (const rows of [1, 3, 2]) {
      const lines = Array.from({ length: rows }, (_, index) => `p${index}@example.com,P\n`).join('')
      await test.start(call, `email,name\n${lines}x,P\n`, { listIds: [String(rows).repeat(24)] })
    }
    await test.runSlice(call)
    await test.runSlice(call)
  })
  after(() => test.stop())

  const list = async (query: Record<string, object>): Promise<Job[]> => {
    const parameters = Object.entries(query).map(([name, value]) => [name, JSON.stringify(value)])
    const answer = await imports(test.context).listImportJobs({ list: Object.fromEntries(parameters) }, call)
    return JSON.parse(String((answer as HttpBody).data)).docs
  }
  const totals = (jobs: Job[]) => jobs.map(({ result }) => result.total)

  it('can be filtered and sorted by, and cut to, every field that it shows', async () => {
    const [shown] = await list({})
    const names = [
      ...Object.keys(shown!),
      ...Object.keys(shown!.result).map(name => `result.${name}`),
      'createdBy.name',
    ]
    for (const name of names) {
      const found = await list({
        filter: { [name]: { $exists: true } },
        sort: { [name]: 1 },
        projection: { [name]: 1 },
      })
      assert.equal(found.length, 3, name)
      assert.ok(name.split('.').reduce((value, key) => value?.[key] as never, found[0]) !== undefined, name)
    }
  })

  for (const [what, filter, expected] of [
    ['progress', { progress: 100 }, [4, 2]],
    ['what became of the rows', { 'result.created': { $gt: 1 } }, [4]],
    ['the total', { 'result.total': { $lt: 4 } }, [3, 2]],
    ['an error', { 'result.errors.code': 'invalid_email' }, [4, 2]],
    ['the mapping', { mapping: { email: 'email', name: 'name' } }, [3, 4, 2]],
    ['the target of a header', { 'mapping.email': 'email' }, [3, 4, 2]],
    ['another target of a header', { 'mapping.email': 'name' }, []],
    ['a list', { listIds: '3'.repeat(24) }, [4]],
    ['who started them', { 'createdBy.name': 'test' }, [3, 4, 2]],
    ['having been undone', { undoneBy: { $ne: null } }, []],
  ] as const) {
    it(`finds them by ${what}`, async () => assert.deepEqual(totals(await list({ filter })), expected))
  }

  it('shows which header is what, whatever it is called', async () => {
    const other = test.newCall()
    await test.start(other, 'email,__proto__\na@x.org,A\n', {
      mapping: JSON.parse('{"email":"email","__proto__":"name"}'),
    })
    const answer = await imports(test.context).listImportJobs({}, other)
    assert.match(String((answer as HttpBody).data), /"mapping":{"email":"email","__proto__":"name"}/)
  })

  it('sorts them by what they came to', async () => {
    assert.deepEqual(totals(await list({ sort: { 'result.created': -1 } })), [4, 2, 3])
  })
})
