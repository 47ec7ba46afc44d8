import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { toAppError } from '@rollcall/contract'
import type { ApplySignUpRequest, ContactJson, HistoryEntryJson } from '@rollcall/protos/gen/audience-v1.ts'
import { type Caller, serviceCaller } from '@rollcall/rpc'
import { Types } from 'mongoose'
import {
  jsonOf,
  type Page,
  startTestAudience,
  streamedJsonOf,
  type TestAudience,
  testCaller,
} from '../../test/audience.ts'

type Me = { caller: Caller }

const confirmation = { at: '2026-05-01T10:00:00.000Z', ip: '192.0.2.9', text: 'I agree' }

describe('sign-ups by form', () => {
  let audience: TestAudience
  before(async () => {
    audience = await startTestAudience()
  })
  after(() => audience.stop())

  const content = ({ caller }: Me) => ({ caller: serviceCaller('content', caller.organizationId) })
  const apply = (me: Me, more: Partial<ApplySignUpRequest> = {}) => {
    const request: ApplySignUpRequest = {
      id: String(new Types.ObjectId()),
      email: 'robin@example.com',
      name: '',
      attributes: {},
      tags: [],
      lists: [],
      collectionId: 'c'.repeat(24),
      entryId: 'e'.repeat(24),
      form: 'Newsletter',
      at: '2026-05-01T09:00:00.000Z',
      ...more,
    }
    return audience.signUps.applySignUp(request, content(me))
  }
  const get = (me: Me, id: string) => jsonOf<ContactJson>(audience.contacts.getContact({ id }, me))
  const create = (me: Me, more: object = {}) =>
    jsonOf<ContactJson>(
      audience.contacts.createContact({ email: 'robin@example.com', name: 'R', tags: ['old'], ...more }, me),
    )
  const newList = async (me: Me) =>
    (
      await jsonOf<{ id: string }>(
        audience.client('rollcall.audience.v1.Lists').createList({ name: 'News', tags: [] }, me),
      )
    ).id
  const activities = async (me: Me, id: string) =>
    (await streamedJsonOf<Page<HistoryEntryJson>>(audience.contacts.listActivities({ id }, me))).docs
  const eventsOf = async (id: string) => {
    const entries = await audience.db.collection('outbox').find().sort({ at: 1, _id: 1 }).toArray()
    return entries
      .flatMap(({ event }) => event)
      .filter(({ subject }) => subject === id)
      .map(({ type }) => type as string)
  }
  const define = (me: Me, slug: string, more: object = {}) =>
    audience.attributes.createAttribute({ name: slug, slug, type: 'string', options: [], ...more }, me)

  it('create the contact of an unknown person, with its lists and an activity', async () => {
    const me = testCaller()
    const list = await newList(me)
    await define(me, 'plan')
    const attributes = { plan: 'team', other: 'x' }
    const { contactId } = await apply(me, { name: 'Robin', tags: ['form'], attributes, lists: [list, 'f'.repeat(24)] })
    const contact = await get(me, contactId)
    assert.deepEqual(
      [contact.email, contact.name, contact.source, contact.tags, contact.attributes, contact.unsubscribed],
      ['robin@example.com', 'Robin', 'form', ['form'], { plan: 'team' }, false],
    )
    const [activity] = await activities(me, contactId)
    assert.deepEqual([activity?.type, activity?.actor.name], ['form.submitted', 'form'])
    assert.deepEqual(await eventsOf(contactId), ['contact.created', 'triggers.audience.added_to_list'])
    const lists = audience.client('rollcall.audience.v1.Lists')
    assert.equal((await jsonOf<{ activeCount: number }>(lists.getList({ id: list }, me))).activeCount, 1)
  })

  it('update a known contact, and never clear an opt-out without a confirmation', async () => {
    const me = testCaller()
    const { id } = await create(me, { unsubscribed: true })
    const { contactId } = await apply(me, { email: 'ROBIN@example.com', name: 'Robin', tags: ['new'] })
    assert.equal(contactId, id)
    const contact = await get(me, id)
    assert.deepEqual(
      [contact.name, contact.tags, contact.unsubscribed, contact.source],
      ['Robin', ['old', 'new'], true, 'api'],
    )
    await apply(me, { name: '' })
    assert.equal((await get(me, id)).name, 'Robin')
  })

  it('clear an opt-out when confirmed, and keep the proof', async () => {
    const me = testCaller()
    const { id } = await create(me, { unsubscribed: true })
    await apply(me, { confirmation })
    const contact = await get(me, id)
    assert.deepEqual([contact.unsubscribed, contact.unsubscribedAt], [false, null])
    const [activity] = await activities(me, id)
    assert.equal(activity?.type, 'form.confirmed')
    assert.deepEqual((activity!.data as { confirmation: unknown }).confirmation, confirmation)
    const events = await eventsOf(id)
    assert.deepEqual(events.slice(-2), ['contact.updated', 'contact.confirmed'])
  })

  it('never unblock', async () => {
    const me = testCaller()
    const { id } = await create(me)
    await audience.contacts.blockContact({ id }, me)
    await apply(me, { confirmation })
    assert.equal((await get(me, id)).blocked, true)
  })

  it('are applied once, however often they arrive', async () => {
    const me = testCaller()
    const list = await newList(me)
    const id = String(new Types.ObjectId())
    const applied = await Promise.all(Array.from({ length: 4 }, () => apply(me, { id, lists: [list], confirmation })))
    const [{ contactId }] = applied as [{ contactId: string }]
    assert.equal(new Set(applied.map(each => each.contactId)).size, 1)
    assert.equal((await activities(me, contactId)).length, 1)
    const expected = ['contact.created', 'triggers.audience.added_to_list', 'contact.confirmed']
    assert.deepEqual(await eventsOf(contactId), expected)
  })

  it('are refused if the organization requires an attribute that they lack', async () => {
    const me = testCaller()
    await define(me, 'plan', { required: true })
    const error = await apply(me).then(() => undefined, toAppError)
    assert.deepEqual([error?.code, error?.path], ['request.missing_field', 'attributes.plan'])
    const found = await streamedJsonOf<Page<ContactJson>>(audience.contacts.listContacts({}, me))
    assert.equal(found.totalDocs, 0)
  })

  it('leave out the values that the contact has no room for', async () => {
    const me = testCaller()
    const slugs = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
    for (const slug of [...slugs, 'plan']) await define(me, slug)
    const texts = (of: string[]) => Object.fromEntries(of.map(slug => [slug, 'x'.repeat(10_000)]))
    const { id } = await create(me, { attributes: texts(slugs.slice(0, 6)) })
    await apply(me, { attributes: { ...texts(['g']), plan: 'team' } })
    const { attributes } = await get(me, id)
    assert.deepEqual(Object.keys(attributes).sort(), [...slugs.slice(0, 6), 'plan'])
    const unknown = await apply(me, { email: 'other@example.com', attributes: { ...texts(slugs), plan: 'team' } })
    const created = await get(me, unknown.contactId)
    assert.deepEqual(Object.keys(created.attributes).sort(), [...slugs.slice(0, 6), 'plan'])
  })

  it('know which attributes and lists there are', async () => {
    const me = testCaller()
    const [list, archived] = [await newList(me), 'f'.repeat(24)]
    await define(me, 'plan')
    const checked = await audience.signUps.checkTargets(
      { attributes: ['plan', 'other'], lists: [list, archived] },
      content(me),
    )
    assert.deepEqual(checked, { unknownAttributes: ['other'], unknownLists: [archived], missingAttributes: [] })
    const stranger = await audience.signUps.checkTargets({ attributes: [], lists: [list] }, content(testCaller()))
    assert.deepEqual(stranger.unknownLists, [list])
  })

  it('know which attributes the organization requires', async () => {
    const me = testCaller()
    for (const slug of ['plan', 'size']) await define(me, slug, { required: true })
    await define(me, 'city')
    const { missingAttributes } = await audience.signUps.checkTargets({ attributes: ['plan'], lists: [] }, content(me))
    assert.deepEqual(missingAttributes, ['size'])
  })
})
