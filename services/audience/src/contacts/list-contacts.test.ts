import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { topics } from '@rollcall/bus'
import { Types } from 'mongoose'
import {
  jsonOf,
  type Page,
  startTestAudience,
  streamedJsonOf,
  type TestAudience,
  testCaller,
} from '../../test/audience.ts'

type Contact = { id: string; email: string }

describe('a filter of contacts', () => {
  let audience: TestAudience
  before(async () => {
    audience = await startTestAudience()
  })
  after(() => audience.stop())

  it('finds what is there now, whatever wrote it, though what it matched is remembered', async () => {
    const me = testCaller()
    const [userId, jobId] = [String(new Types.ObjectId()), String(new Types.ObjectId())]
    const { contacts, attributes, batches, users } = audience
    users.set(me.caller.organizationId, [{ id: userId, name: 'User One', email: 'u@example.com' } as never])
    await attributes.createAttribute({ name: 'City', slug: 'city', type: 'string', options: [] }, me)
    const create = (email: string) => jsonOf<Contact>(contacts.createContact({ email, tags: ['new'] }, me))
    const { id } = await create('one@example.com')
    const total = async (filter: object) =>
      (
        await streamedJsonOf<Page<Contact>>(
          contacts.listContacts({ list: { filter: JSON.stringify(filter), limit: 1 } }, me),
        )
      ).totalDocs
    const bounced = () =>
      audience.publish(topics.messaging, [
        {
          id: randomUUID(),
          type: 'email.bounced',
          source: 'messaging',
          subject: 'm1',
          organization: me.caller.organizationId,
          time: new Date().toISOString(),
          data: {
            emailId: 'm1',
            to: 'one@example.com',
            subject: '',
            sender: '',
            at: new Date().toISOString(),
            kind: 'transactional',
          },
        },
      ])
    const row = { row: 1, email: 'two@example.com', name: 'Two', attributes: {}, tags: [], clearTags: false }
    const batch = { jobId, number: 0, duplicateStrategy: 'update', tags: [], listIds: [] }

    const isNew = { tags: 'new' }
    const steps: [write: () => Promise<unknown>, filter: object, was: number, is: number][] = [
      [() => contacts.updateContact({ id, name: 'Uno' }, me), { name: 'Uno' }, 0, 1],
      [() => contacts.updateAttributes({ id, attributes: { city: 'Oslo' } }, me), { 'attributes.city': 'Oslo' }, 0, 1],
      [() => contacts.blockContact({ id, reason: '' }, me), { blocked: true }, 0, 1],
      [() => contacts.unblockContact({ id }, me), { blocked: true }, 1, 0],
      [() => contacts.linkUser({ id, userId }, me), { user: userId }, 0, 1],
      [() => contacts.linkUser({ id, userId: '' }, me), { user: userId }, 1, 0],
      [bounced, { emailStatus: 'bounced' }, 0, 1],
      [() => contacts.replaceTags({ id, tags: ['old'] }, me), isNew, 1, 0],
      [() => create('three@example.com'), isNew, 0, 1],
      [() => batches.applyBatch({ ...batch, rows: [row] } as never, me), { source: 'import' }, 0, 1],
      [() => batches.undoBatch({ jobId, number: 0 }, me), { source: 'import' }, 1, 0],
      [() => contacts.deleteContact({ id }, me), { name: 'Uno' }, 1, 0],
    ]
    for (const [write, filter, was, is] of steps) {
      assert.equal(await total(filter), was, `before ${write}`)
      await write()
      for (const until = Date.now() + 10_000; (await total(filter)) !== is; ) {
        assert.ok(write === bounced && Date.now() < until, `after ${write}`) // an event takes effect later
      }
    }
  })

  it('finds no value of an attribute that is gone', async () => {
    const me = testCaller()
    const { contacts, attributes } = audience
    const define = () =>
      jsonOf<{ id: string }>(
        attributes.createAttribute({ name: 'City', slug: 'city', type: 'string', options: [] }, me),
      )
    const { id } = await define()
    await contacts.createContact({ email: 'one@example.com', tags: [], attributes: { city: 'Oslo' } }, me)
    const filter = '{"attributes.city":"Oslo"}'
    const total = async () =>
      (await streamedJsonOf<Page<Contact>>(contacts.listContacts({ list: { filter } }, me))).totalDocs
    assert.equal(await total(), 1)
    await attributes.deleteAttribute({ id }, me)
    await define()
    assert.equal(await total(), 0)
  })
})
