import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { ImportStatusJson, ImportUploadJson } from '@rollcall/protos/gen/import-v1.ts'
import { type Api, bodyOf } from '../api.ts'
import type { TestStack } from '../stack.ts'
import { accounting, follow, importFile, startImport } from './import-job.ts'
import { newOrganization } from './organizations.ts'
import { startImportStack } from './shared-stack.ts'

type Contact = {
  id: string
  email: string
  name: string
  tags: string[]
  attributes: object
  unsubscribed: boolean
  updatedAt: string
}
type Job = { id: string; kind: string; undoes: string | null; undoneBy: string | null; state: string }
type Refusal = { message: string; path?: string }

describe('an import', () => {
  let stack: TestStack
  before(async () => {
    stack = await startImportStack()
  })
  after(() => stack.stop())

  const organization = () => newOrganization(stack, { company: 'string', seats: 'number' })
  const create = (api: Api, contact: object) => bodyOf(api.post<Contact>('/api/audience', contact), 201)
  const listOf = async (api: Api) =>
    (await bodyOf(api.post<{ id: string }>('/api/audience-lists', { name: 'Newsletter' }), 201)).id
  const contactsOf = (api: Api) =>
    bodyOf(api.get<Contact[]>('/api/audience', { pagination: 'false', sort: { email: 1 } }))
  /** Returns the contacts without their times. */
  const contentsOf = async (api: Api) => (await contactsOf(api)).map(({ updatedAt: _, ...contact }) => contact)
  const membersOf = async (api: Api, list: string) =>
    (await bodyOf(api.get<Contact[]>(`/api/audience-lists/${list}/contacts`, { pagination: 'false' })))
      .map(({ email }) => email)
      .sort()
  const undo = async (api: Api, jobId: string): Promise<ImportStatusJson> => {
    const { jobId: undoId } = await bodyOf(api.post<{ jobId: string }>(`/api/audience/import/${jobId}/undo`))
    return follow(api, undoId)
  }
  const undone = { total: 0, created: 0, updated: 0, unchanged: 0, skipped: 0, failed: 0, removed: 0 }
  const outcomes = ({ result }: ImportStatusJson) =>
    Object.fromEntries(Object.keys(undone).map(key => [key, result[key as keyof typeof undone]]))

  describe('taken back', () => {
    it('restores the previous state', async () => {
      const api = await organization()
      await create(api, { email: 'known@example.com', name: 'Known', tags: ['old'], attributes: { company: 'Acme' } })
      await create(api, { email: 'same@example.com', name: 'Same', tags: ['t'] })
      const list = await listOf(api)
      const before = await contentsOf(api)
      const rows = Array.from({ length: 1_200 }, (_, index) => `new${index}@example.com,New ${index},,1,,`)
      const file = [
        'email,name,company,seats,tags,unsubscribed',
        'known@example.com,Changed,Globex,7,more,yes',
        'same@example.com,Same,,,,',
        ...rows,
      ].join('\n')
      const status = await importFile(api, file, { listIds: [list], tags: ['t'] })
      assert.deepEqual(
        [status.result.created, status.result.updated, status.result.unchanged, status.result.addedToLists],
        [1_200, 1, 1, 1_202],
      )
      assert.equal((await membersOf(api, list)).length, 1_202)

      const [{ id: jobId }] = await bodyOf(api.get<[Job]>('/api/audience/import/jobs', { pagination: 'false' }))
      const taken = await undo(api, jobId)
      assert.equal(taken.state, 'completed')
      assert.deepEqual(outcomes(taken), { ...undone, total: 1_201, updated: 1, removed: 1_200 })
      assert.deepEqual(await contentsOf(api), before)
      assert.deepEqual(await membersOf(api, list), [])
      const { totalDocs } = await bodyOf(api.get<{ totalDocs: number }>('/api/audience'))
      assert.equal(totalDocs, 2)
    })

    it('keeps later changes, field by field', async () => {
      const api = await organization()
      const known = await create(api, {
        email: 'known@example.com',
        name: 'Known',
        attributes: { company: 'Acme', seats: 1 },
      })
      const file =
        'email,name,company,seats\nknown@example.com,Imported,Globex,2\nnew@example.com,New,,\ngone@example.com,G,,\n'
      const jobId = await startImport(api, file)
      await follow(api, jobId)
      const byEmail = async (email: string) => (await contactsOf(api)).find(contact => contact.email === email)!
      await bodyOf(api.patch(`/api/audience/${known.id}/attributes`, { attributes: { company: 'Hooli' } }))
      await bodyOf(api.patch(`/api/audience/${(await byEmail('new@example.com')).id}`, { name: 'Edited' }))
      await bodyOf(api.delete(`/api/audience/${(await byEmail('gone@example.com')).id}`))

      const taken = await undo(api, jobId)
      assert.deepEqual(outcomes(taken), { ...undone, total: 3, updated: 1, skipped: 2 })
      const restored = await byEmail('known@example.com')
      assert.deepEqual([restored.name, restored.attributes], ['Known', { company: 'Hooli', seats: 1 }])
      assert.equal((await byEmail('new@example.com')).name, 'Edited')
      assert.equal((await contactsOf(api)).length, 2)
    })

    it('is so once, when it has ended, and not if it is an undo or a dry run', async () => {
      const api = await organization()
      const refused = async (jobId: string, status: number) =>
        (await bodyOf(api.post<Refusal>(`/api/audience/import/${jobId}/undo`), status)).message
      for (const unknown of ['f'.repeat(24), 'nonsense'])
        assert.equal(await refused(unknown, 404), 'import job not found')

      const rows = Array.from({ length: 6_000 }, (_, index) => `p${index}@example.com,P ${index}`)
      const jobId = await startImport(api, `email,name\n${rows.join('\n')}`)
      assert.equal(await refused(jobId, 409), 'the import has not finished')
      await follow(api, jobId, ({ progress }) => progress > 0)
      await bodyOf(api.post(`/api/audience/import/${jobId}/cancel`))
      const answers = await Promise.all(
        [1, 2].map(() => api.post<{ jobId: string; message: string }>(`/api/audience/import/${jobId}/undo`)),
      )
      assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409])
      const undoId = answers.find(({ status }) => status === 200)!.body.jobId
      assert.equal(
        (await bodyOf(api.post<Refusal>(`/api/audience/import/${undoId}/cancel`), 409)).message,
        'an undo cannot be cancelled',
      )
      assert.equal((await follow(api, undoId)).state, 'completed')
      assert.deepEqual(await contactsOf(api), [], 'a cancelled import that was taken back left contacts')
      assert.equal(await refused(undoId, 409), 'only an import can be undone')
      assert.equal(await refused(jobId, 409), 'the import was already undone')

      const dryRun = await startImport(api, 'email,name\na@example.com,A\n', { dryRun: true })
      await follow(api, dryRun)
      assert.equal(await refused(dryRun, 409), 'only an import can be undone')
      const jobs = await bodyOf(api.get<Job[]>('/api/audience/import/jobs', { pagination: 'false' }))
      assert.deepEqual(
        jobs.map(({ id, kind, undoes, undoneBy }) => [id, kind, undoes, undoneBy]),
        [
          [dryRun, 'dry-run', null, null],
          [undoId, 'undo', jobId, null],
          [jobId, 'import', null, undoId],
        ],
      )
    })
  })

  describe('tried first', () => {
    it('counts and shows what it would do, writes nothing, and can still be started', async () => {
      const api = await organization()
      await create(api, { email: 'known@example.com', name: 'Old', unsubscribed: true })
      const list = await listOf(api)
      const before = await contactsOf(api)
      const file =
        'email,name,seats,unsubscribed\nknown@example.com,New,2,no\na@example.com,A,,\nb@,B,,\nA@example.com,A,3,\n'
      const { importId, suggestedMapping: mapping } = await bodyOf(
        api.upload<ImportUploadJson>('/api/audience/import/upload', file),
      )
      const start = async (more: object = {}) => {
        const body = { importId, mapping, listIds: [list], ...more }
        return (await bodyOf(api.post<{ jobId: string }>('/api/audience/import/start', body))).jobId
      }
      const dryRuns = [await start({ dryRun: true }), await start({ dryRun: true })]
      assert.notEqual(dryRuns[0], dryRuns[1])
      const expected = { total: 4, created: 1, updated: 1, unchanged: 0, skipped: 1, failed: 1 }
      for (const jobId of dryRuns) {
        const { result, ...status } = await follow(api, jobId)
        assert.equal(status.state, 'completed')
        assert.deepEqual(accounting({ result, ...status }), expected)
        assert.deepEqual([result.optOutsKept, result.errors.length], [1, 1])
        assert.deepEqual(result.preview[0], {
          row: 1,
          email: 'known@example.com',
          outcome: 'updated',
          changes: [
            { field: 'name', from: 'Old', to: 'New' },
            { field: 'attributes.seats', from: null, to: 2 },
          ],
        })
        assert.deepEqual([result.preview[1]?.row, result.preview[1]?.outcome], [4, 'created'])
      }
      assert.deepEqual(await contactsOf(api), before)
      assert.deepEqual(await membersOf(api, list), [])

      const jobId = await start()
      assert.ok(!dryRuns.includes(jobId))
      assert.deepEqual(accounting(await follow(api, jobId)), expected)
      assert.equal(await start(), jobId)
      assert.equal((await contactsOf(api)).length, 2)
    })
  })

  describe('for lists', () => {
    it('adds every contact it meets to them, and refuses lists that are unknown or of others', async () => {
      const [api, other] = [await organization(), await organization()]
      const [list, foreign] = [await listOf(api), await listOf(other)]
      const known = await create(api, { email: 'known@example.com', name: 'Known' })
      await bodyOf(api.post(`/api/audience-lists/${list}/contacts`, { contactIds: [known.id] }))
      const { importId, suggestedMapping: mapping } = await bodyOf(
        api.upload<ImportUploadJson>(
          '/api/audience/import/upload',
          'email,name\nknown@example.com,Known\na@example.com,A\nb@,B\n',
        ),
      )
      const refused = async (listIds: string[]) =>
        bodyOf(api.post<Refusal>('/api/audience/import/start', { importId, mapping, listIds }), 400)
      for (const id of [foreign, 'f'.repeat(24)]) assert.equal((await refused([list, id])).path, 'listIds.1')
      assert.equal((await refused(['nonsense'])).path, 'listIds.0')

      const start = { importId, mapping, listIds: [list, list] }
      const { jobId } = await bodyOf(api.post<{ jobId: string }>('/api/audience/import/start', start))
      const status = await follow(api, jobId)
      assert.equal(status.result.addedToLists, 1)
      assert.deepEqual(await membersOf(api, list), ['a@example.com', 'known@example.com'])
      const [job] = await bodyOf(api.get<{ listIds: string[] }[]>('/api/audience/import/jobs', { pagination: 'false' }))
      assert.deepEqual(job?.listIds, [list])
    })
  })
})
