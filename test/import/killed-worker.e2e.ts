import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Api, bodyOf } from '../api.ts'
import { startStack } from '../stack.ts'
import { accounting, follow, importFile, startImport } from './import-job.ts'

const rows = 12_000
const kills = 3

/** A third of the rows are known beforehand, some fail, some lose to a later row of their email. */
const known = [
  'email,name',
  ...Array.from({ length: rows / 3 }, (_, index) => `k${index * 3}@example.com,Known ${index}`),
].join('\n')
const file = [
  'email,name,tags',
  ...Array.from({ length: rows }, (_, index) => {
    if (index % 500 === 7) return `broken ${index},x,`
    if (index % 500 === 8) return `K${index + 3}@example.com,Loses,`
    return `k${index}@example.com,"Name, ${index}",t${index % 5}`
  }),
].join('\n')

type Contact = { email: string; name: string; tags: string[] }

/** All contacts by email, without what differs from run to run. */
async function contentsOf(api: Api): Promise<Contact[]> {
  const query = { pagination: 'false', sort: { email: 1 }, projection: { email: 1, name: 1, tags: 1 } }
  const contacts = await bodyOf(api.get<Contact[]>('/api/audience', query))
  return contacts.map(({ email, name, tags }) => ({ email, name, tags }))
}

test('an import whose worker is killed comes to the same as one that is left alone', async () => {
  const stack = await startStack({ processes: true, settings: { REGISTRATION: 'open', IMPORT_TURN_MS: '200' } })
  try {
    const person = { name: 'Other', email: 'other@example.com', password: 'made for tests only' }
    const { token } = await bodyOf(stack.api.post<{ token: string }>('/api/auth/register', person), 201)
    const [killed, alone] = [stack.owner, stack.api.as(token)]
    for (const api of [killed, alone]) await importFile(api, known)

    const worker = stack.instances('import')[0]!
    const jobId = await startImport(killed, file)
    for (let kill = 1; kill <= kills; kill++) {
      const { state } = await follow(killed, jobId, ({ progress }) => progress >= (kill * 100) / (kills + 2))
      assert.equal(state, 'active', 'the import was over before it could be killed')
      await worker.kill()
      await worker.start()
    }
    const [broken, whole] = [await follow(killed, jobId), await importFile(alone, file)]

    assert.equal(broken.state, 'completed')
    assert.deepEqual(accounting(broken), accounting(whole))
    assert.equal(broken.result.duplicatesInFile, whole.result.duplicatesInFile)
    assert.deepEqual(broken.result.errors, whole.result.errors)
    assert.deepEqual(await contentsOf(killed), await contentsOf(alone))
    const total = async (api: Api) => (await bodyOf(api.get<{ totalDocs: number }>('/api/audience'))).totalDocs
    assert.equal(await total(killed), (await contentsOf(killed)).length)
    assert.equal(await total(killed), await total(alone))
  } finally {
    await stack.stop()
  }
})
