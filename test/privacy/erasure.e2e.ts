import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import type { ContactJson } from '@rollcall/protos/gen/audience-v1.ts'
import { type Answer, bodyOf } from '../api.ts'
import { isSoak } from '../soak.ts'
import { type Known, startWorld, type World } from './erasure.harness.ts'

/** What each of these services holds of a person that it does not erase. */
const HELD = {
  webhooks: ['webhooks.attempts', 'webhooks.deliveries', 'webhooks.events'],
  messaging: ['messaging.mails', 'messaging.suppressions'],
  import: ['import.chunks', 'import.failed_rows', 'import.imports'],
  content: ['content.entries', 'content.uniquevalues'],
  audience: ['audience.bulk_jobs', 'audience.segments'],
}

suite('the data of a contact', () => {
  let world: World
  let erased: Known
  const forgotten: Known[] = []
  before(async () => {
    world = await startWorld()
  })
  after(() => world?.[Symbol.asyncDispose]())

  const create = (fields: object) => bodyOf(world.owner.post<ContactJson>('/api/audience', fields), 201)

  test('is downloaded from every service, and the download is logged', async () => {
    const { id } = await create({ email: 'data@example.com', name: 'Contact One', tags: ['a'] })
    const response: Answer<Record<string, object[]>> = await world.owner.get(`/api/audience/${id}/data`)
    assert.equal(response.headers.get('content-disposition'), 'attachment; filename="contact.json"')
    const { contact, history, omitted } = response.body
    assert.equal(contact?.length, 1)
    assert.equal(history?.length, 1)
    assert.deepEqual(omitted, [])
  })

  test('is in no store and no log after an erasure', async t => {
    erased = await world.introduce('erased-person')
    const { progress, result } = await world.erase(erased)
    t.diagnostic(
      `B3  ${result.services.map(({ service, records }) => `${service} ${records}`).join(', ')} records erased`,
    )
    assert.equal(progress, 100)
    assert.deepEqual([...new Set(result.services.map(({ state }) => state))], ['erased'])
    assert.equal((await world.owner.get(`/api/audience/${erased.contactId}`)).status, 404)
    assert.deepEqual(await world.search(erased), [])
  })

  for (const [service, held] of Object.entries(HELD).slice(0, isSoak ? undefined : 1))
    test(`is found where ${service} forgets to erase it`, async () => {
      const person = await world.introduce(`forgotten-by-${service}`)
      forgotten.push(person)
      await world.eraseNaively(person, service)
      const places = await world.search(person)
      assert.deepEqual(
        places.filter(place => held.includes(place)),
        held,
      )
    })

  test('comes back opted out and suppressed, as it was', async () => {
    const email = 'returns@example.com'
    const { id: contactId } = await create({ email, unsubscribed: true })
    await bodyOf(world.owner.post('/api/emails/suppressions', { email }), 201)
    await world.erase({ contactId })
    const { id, unsubscribed } = await create({ email: 'other@example.com' })
    assert.equal(unsubscribed, false)
    await bodyOf(world.owner.patch(`/api/audience/${id}`, { email }))
    assert.equal((await bodyOf(world.owner.get<ContactJson>(`/api/audience/${id}`))).unsubscribed, true)
    await bodyOf(world.owner.delete(`/api/audience/${id}`))
    assert.equal((await create({ email: 'Returns@Example.com' })).unsubscribed, true)
    assert.match(await world.refusalOfMail(email), /suppressed \(manual\)/)
  })

  test('is in no file of the database that is not its journal', async () => {
    await world.stop()
    assert.deepEqual(await world.searchFiles(erased), [])
    for (const person of forgotten) assert.notDeepEqual(await world.searchFiles(person), [])
  })
})
