import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { CollectionJson, EntryJson } from '@rollcall/protos/gen/content-v1.ts'
import { serviceCaller } from '@rollcall/rpc'
import { scaledTimeout } from '@rollcall/testing/scaled-timeout'
import { jsonOf, type Page, startTestContent, streamedJsonOf, type TestContent, testCaller } from '../test/content.ts'

describe('personal data of content', () => {
  let content: TestContent
  before(async () => {
    content = await startTestContent()
  })
  after(() => content.stop())

  it('is what names a person in any line of an entry', async () => {
    const me = testCaller()
    const collections = content.client('rollcall.content.v1.Collections')
    const entries = content.client('rollcall.content.v1.Entries')
    const fields = [{ slug: 'message', name: 'Message', type: 'text' as const }]
    const { id } = await jsonOf<CollectionJson>(
      collections.createCollection({ name: 'Messages', slug: 'messages', fields }, me),
    )
    for (const message of ['Regards\nbob@example.com', 'Regards\njimbob@example.com'])
      await entries.createEntry({ id, values: { message } }, me)
    const bob = { contactId: 'b'.repeat(24), emailKeys: ['bob@example.com'], names: [] }
    const caller = serviceCaller('audience', me.caller.organizationId)
    const call = { caller, deadline: Date.now() + scaledTimeout(30_000) }
    assert.equal((await content.people.erasePerson(bob, call)).records, 1)
    const { docs } = await streamedJsonOf<Page<EntryJson>>(entries.listEntries({ id }, me))
    assert.deepEqual(
      docs.map(({ values }) => values.message),
      ['Regards\njimbob@example.com'],
    )
  })
})
