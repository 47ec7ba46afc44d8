import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { ImportUploadJson } from '@rollcall/protos/gen/import-v1.ts'
import { type Api, bodyOf } from '../api.ts'
import { startStack, type TestStack } from '../stack.ts'
import { accounting, follow, importFile, startImport } from './import-job.ts'
import { newOrganization, organizationSettings } from './organizations.ts'
import { damagedFiles, exportsOfTools, type Imported, refusedFiles } from './specimens.ts'

type Contact = { email: string; name: string; tags: string[]; attributes: object; unsubscribed: boolean }
type Refusal = { error: true; message: string; path?: string }

const attributes = { company: 'string', seats: 'number', paid: 'boolean', since: 'date' }
const upload = (api: Api, file: string | Buffer<ArrayBuffer>, status = 200) =>
  bodyOf(api.upload<ImportUploadJson & Refusal>('/api/audience/import/upload', file), status)
const numbered = (count: number) =>
  `email,name\n${Array.from({ length: count }, (_, index) => `p${index}@example.com,P ${index}\n`).join('')}`

describe('a file as people have them', () => {
  let stack: TestStack
  before(async () => {
    stack = await startStack({ settings: { ...organizationSettings, IMPORT_TURN_MS: '100', IMPORT_CONCURRENCY: '1' } })
  })
  after(() => stack.stop())

  for (const specimen of [...exportsOfTools, ...damagedFiles]) {
    it(`is accounted for: ${specimen.what}`, async () => {
      const api = await newOrganization(stack, attributes)
      const { importId, suggestedMapping } = await upload(api, specimen.file)
      // Built from pairs, because an object literal cannot have every header.
      const mapping = Object.fromEntries([
        ...Object.entries(suggestedMapping),
        ...Object.entries(specimen.mapping ?? {}),
      ])
      const { jobId } = await bodyOf(api.post<{ jobId: string }>('/api/audience/import/start', { importId, mapping }))
      await checkImport(api, jobId, specimen)
    })
  }

  for (const { what, file, refused } of refusedFiles) {
    it(`is refused if it is ${what}`, async () => {
      const { error, message, path } = await upload(stack.owner, file, 400)
      assert.deepEqual([error, path], [true, 'file'])
      assert.match(message, refused)
    })
  }

  async function checkImport(api: Api, jobId: string, { rows, failures, contacts = {} }: Imported): Promise<void> {
    const status = await follow(api, jobId)
    const { total: _, ...outcomes } = accounting(status)
    const errors = status.result.errors.map(({ row, line, code }) => [row, line, code])
    const none = { created: 0, updated: 0, unchanged: 0, skipped: 0, failed: 0 }
    assert.deepEqual(outcomes, { ...none, ...rows }, JSON.stringify(status.result.errors))
    if (failures) assert.deepEqual(errors, failures)
    const stored = await bodyOf(api.get<Contact[]>('/api/audience', { pagination: 'false' }))
    assert.equal(stored.length, outcomes.created)
    for (const [email, known] of Object.entries(contacts)) {
      const found = stored.find(contact => contact.email.toLowerCase() === email)
      assert.ok(found, `${email} is not there`)
      assert.partialDeepStrictEqual(found, known)
    }
  }

  it('is not held up by one of another organization that takes long', async () => {
    const [busy, quick] = [await newOrganization(stack), await newOrganization(stack)]
    const long = await startImport(busy, numbered(8_000))
    await follow(busy, long, ({ state }) => state === 'active')
    assert.equal((await importFile(quick, numbered(10))).result.created, 10)
    const meanwhile = await follow(busy, long, () => true)
    assert.equal(meanwhile.state, 'active', 'the long one was over before the quick one')
    assert.deepEqual(accounting(await follow(busy, long)).created, 8_000)
  })
})

describe('a file over the limits that are set', () => {
  const limits = { UPLOAD_MAX_ROWS: '20', UPLOAD_MAX_COLUMNS: '4', UPLOAD_MAX_FIELD: '50', UPLOAD_MAX_BYTES: '4000' }
  let stack: TestStack
  let api: Api
  before(async () => {
    stack = await startStack({ settings: { ...organizationSettings, ...limits } })
    api = await newOrganization(stack)
  })
  after(() => stack.stop())

  for (const [what, file, message] of [
    ['rows', numbered(21), 'the file has more than 20 rows'],
    ['columns', 'email,name,a,b,c\nx\n', /more values than the 4 columns/],
    ['a field', `email,name\na@example.com,${'x'.repeat(51)}\n`, /^line 2, column name: .* longer than 50 characters$/],
    ['bytes', `email,name\n${'\n'.repeat(4_000)}`, /file is larger than 4000 bytes$/],
  ] as const) {
    it(`gets the reason: ${what}`, async () => {
      const refused = await upload(api, file, 400)
      if (typeof message === 'string') assert.equal(refused.message, message)
      else assert.match(refused.message, message)
    })
  }

  it('and one at them is imported', async () => {
    assert.equal((await importFile(api, numbered(20))).result.created, 20)
  })
})
