import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { type Topic, topics } from '@rollcall/bus'
import type { ApplyBatchRequestRow as Row } from '@rollcall/protos/gen/audience-v1.ts'
import { type Caller, serviceCaller } from '@rollcall/rpc'
import { createLogger } from '@rollcall/runtime'
import { checkRowGroup, connectStore, dueGroups, parseFilter, rewriteRowGroup } from '@rollcall/store'
import { eventually } from '@rollcall/testing/eventually'
import { Types } from 'mongoose'
import {
  jsonOf,
  type Page,
  startTestAudience,
  streamedJsonOf,
  type TestAudience,
  testCaller,
} from '../../test/audience.ts'
import { collections } from '../collections.ts'
import type { Data } from '../context.ts'
import { columnData } from './columns.job.ts'
import { contactFields } from './contact.model.ts'
import { repairColumns } from './repair-columns.ts'

type Me = { caller: Caller }
type Contact = { id: string; email: string; name: string; position: number } & Record<string, unknown>

/** Enough for columns to be searched. */
const CONTACTS = 1200

describe('the columns of contacts', () => {
  let audience: TestAudience
  let data: Data
  let close: () => Promise<void>
  const me: Me = testCaller()
  const organization = me.caller.organizationId
  const newId = () => String(new Types.ObjectId())
  const rowOf = (number: number, rest: Partial<Row> = {}): Row => ({
    row: number,
    email: `c${number}@example.com`,
    name: `Contact ${number}`,
    attributes: { city: `city ${number % 20}` },
    tags: [`tag ${number % 3}`],
    clearTags: false,
    ...rest,
  })
  const apply = (jobId: string, rows: Row[], listIds: string[] = []) =>
    audience.batches.applyBatch({ jobId, number: 0, duplicateStrategy: 'update', tags: [], listIds, rows }, me)
  const columns = () => columnData(data, organization)
  const list = (query: object) => streamedJsonOf<Page<Contact>>(audience.contacts.listContacts({ list: query }, me))
  const contactAt = async (number: number) =>
    (await list({ filter: JSON.stringify({ email: `c${number}@example.com` }) })).docs[0]!.id

  before(async () => {
    audience = await startTestAudience()
    const logger = createLogger({ service: 'audience', level: 'silent' })
    const store = await connectStore({ url: process.env.MONGODB_URL!, dbName: audience.db.databaseName, logger })
    data = { store, collections: collections(store), logger }
    close = store.close
    const city = { name: 'City', slug: 'city', type: 'string' as const, options: [] }
    await audience.attributes.createAttribute(city, me)
    for (let from = 0; from < CONTACTS; from += 600)
      await apply(
        newId(),
        Array.from({ length: 600 }, (_, index) => rowOf(from + index)),
      )
    assert.deepEqual(await dueGroups(columns()), [0])
    assert.ok(await rewriteRowGroup(columns(), 0))
  })
  after(async () => {
    await close()
    await audience.stop()
  })

  it('hold every contact, and are not due again', async () => {
    assert.deepEqual(await checkRowGroup(columns(), 0), [])
    assert.deepEqual(await dueGroups(columns()), [])
  })

  it('answer a list like the contacts themselves, page by page', async () => {
    const tenant = data.collections.of(organization)
    for (const filter of [
      { 'attributes.city': 'city 3' },
      { name: { $regex: 'act 11' } },
      { name: { $regex: 'ACT 11.$', $options: 'i' } },
      { tags: 'tag 1', 'attributes.city': { $in: ['city 1', 'city 4'] } },
      { createdAt: { $gt: 'now-1d' }, unsubscribed: false },
    ]) {
      const text = JSON.stringify(filter)
      const fields = contactFields(new Map([['city', { slug: 'city', type: 'string', options: [], required: false }]]))
      const matching = parseFilter(text, fields)
      const expected = await tenant.contacts.find(matching, { sort: { position: -1 } })
      for (const [sort, order] of [
        [undefined, expected],
        ['{"createdAt":1}', expected.toReversed()],
      ] as const)
        for (const page of [1, 2, Math.ceil(expected.length / 7)]) {
          const { docs, totalDocs } = await list({ filter: text, page, limit: 7, ...(sort && { sort }) })
          const ids = order.slice((page - 1) * 7, page * 7).map(({ _id }) => String(_id))
          assert.equal(totalDocs, expected.length, text)
          assert.deepEqual(
            docs.map(({ id }) => id),
            ids,
            text,
          )
        }
    }
  })

  describe('know of the stale rows of every writer:', () => {
    /** Number of notes, and the version of the columns: the job may rewrite them in between. */
    const noticed = async () => {
      const { rowGroups, staleRows } = data.collections.of(organization)
      return [await staleRows.count(), String((await rowGroups.findOne({ group: 0 }))?.version)]
    }
    /** Runs a writer. Whatever differs from the columns then must be noted, and is found. */
    const noted = async (write: () => Promise<unknown>) => {
      const before = await noticed()
      await write()
      // The stand-in may show the inbox entry of a transaction before its other writes.
      await eventually('the change is noted', async () => !isDeepStrictEqual(await noticed(), before))
      // Undefined while the job rewrites them.
      assert.deepEqual(await eventually('a check between rewrites', () => checkRowGroup(columns(), 0)), [])
    }
    const lists = () => audience.client('rollcall.audience.v1.Lists')
    const bulk = () => audience.client('rollcall.audience.v1.Bulk')
    const newList = async () => (await jsonOf<{ id: string }>(lists().createList({ name: newId(), tags: [] }, me))).id
    const bulkEnded = (jobId: string) =>
      eventually('the job ends', async () => {
        const { state } = await jsonOf<{ state: string }>(bulk().getBulkJob({ jobId }, me))
        return state === 'completed'
      })
    const publish = (topic: Topic, consumer: string, event: { type: string; subject: string; data: object }) => {
      const id = randomUUID()
      const source = event.type.startsWith('user') ? 'identity' : 'messaging'
      const rest = { source, organization, time: new Date().toISOString() }
      return audience
        .publish(topic, [{ id, ...rest, ...event } as never])
        .then(() =>
          eventually('the event is consumed', async () =>
            audience.db.collection('inbox').findOne({ _id: `${consumer}:${id}` as never }),
          ),
        )
    }
    const none = { contactIds: [], emails: [] }
    const noChange = { addTags: [], removeTags: [], addToLists: [], removeFromLists: [] }

    it('create', () => noted(() => audience.contacts.createContact({ email: 'new@example.com', tags: [] }, me)))

    it('update', async () => {
      const id = await contactAt(1)
      await noted(() => audience.contacts.updateContact({ id, name: 'Other', email: 'other@example.com' }, me))
    })

    it('attributes, tags and blocks', async () => {
      const id = await contactAt(2)
      await noted(() => audience.contacts.updateAttributes({ id, attributes: { city: 'Rome' } }, me))
      await noted(() => audience.contacts.replaceTags({ id, tags: ['other'] }, me))
      await noted(() => audience.contacts.blockContact({ id, reason: 'asked' }, me))
      await noted(() => audience.contacts.unblockContact({ id }, me))
    })

    it('links to accounts, and their end', async () => {
      const id = await contactAt(3)
      const userId = newId()
      audience.users.set(organization, [{ id: userId, name: 'U', email: 'u@example.com' } as never])
      await noted(() => audience.contacts.linkUser({ id, userId }, me))
      const actor = { kind: 'user', id: userId, name: 'U' }
      const gone = { user: { _id: userId, id: userId }, actor }
      await noted(() =>
        publish(topics.identity, 'audience.on-user-events', { type: 'user.deleted', subject: userId, data: gone }),
      )
    })

    it('lists', async () => {
      const id = await newList()
      const contactIds = [await contactAt(4), await contactAt(5)]
      await noted(() => lists().addMembers({ ...none, id, contactIds }, me))
      await noted(() => lists().removeMembers({ ...none, id, contactIds: contactIds.slice(1) }, me))
      await noted(() => lists().addMembers({ ...none, id, filter: { 'attributes.city': 'city 7' } }, me))
      await noted(async () => {
        await lists().deleteList({ id }, me)
        await eventually('its memberships end', async () => {
          const left = await audience.db.collection('contacts').countDocuments({ lists: new Types.ObjectId(id) })
          return left === 0
        })
      })
    })

    it('imports and their undo', async () => {
      const jobId = newId()
      const list = await newList()
      const rows = [rowOf(10, { name: 'Imported' }), rowOf(CONTACTS + 1), rowOf(11, { tags: ['imported'] })]
      await noted(() => apply(jobId, rows))
      await noted(() => audience.batches.undoBatch({ jobId, number: 0 }, me))
      await noted(() => apply(newId(), [rowOf(12)], [list]))
    })

    it('bulk changes, deletions and their undo', async () => {
      const change = { ...noChange, addTags: ['bulk'], attributes: { city: 'Bulk' }, unsubscribed: true }
      let jobId = ''
      await noted(async () => {
        ;({ jobId } = await bulk().changeContacts({ ...none, filter: { name: 'Contact 20' }, change }, me))
        await bulkEnded(jobId)
      })
      await noted(async () => bulkEnded((await bulk().undoBulkJob({ jobId }, me)).jobId))
      await noted(async () => {
        ;({ jobId } = await bulk().deleteContacts({ ...none, filter: { name: 'Contact 21' } }, me))
        await bulkEnded(jobId)
      })
      await noted(async () => bulkEnded((await bulk().undoBulkJob({ jobId }, me)).jobId))
    })

    it('mail and suppressions', async () => {
      const at = new Date().toISOString()
      const mail = { kind: 'transactional', subject: 'Hello', sender: 'a@example.com', at, to: 'c30@example.com' }
      const bounced = { type: 'email.bounced', subject: 'm1', data: { ...mail, emailId: 'm1', error: 'no such box' } }
      await noted(() => publish(topics.messaging, 'audience.on-email-events', bounced))
      const suppression = {
        _id: 's1',
        id: 's1',
        email: 'c30@example.com',
        kind: 'hard_bounce',
        reason: '550',
        count: 1,
      }
      const times = { firstAt: at, lastAt: at, createdAt: at, updatedAt: at }
      const lifted = {
        suppression: { ...suppression, message: null, ...times },
        actor: { kind: 'user', id: 'u', name: 'U' },
      }
      await noted(() =>
        publish(topics.messaging, 'audience.on-suppression-lifted', {
          type: 'suppression.deleted',
          subject: 's1',
          data: lifted,
        }),
      )
      const toAnother = { ...mail, to: 'c32@example.com', emailId: 'm2' }
      const complained = { type: 'email.complained', subject: 'm2', data: toAnother }
      await noted(() => publish(topics.messaging, 'audience.on-email-events', complained))
    })

    it('preferences and sign-ups', async () => {
      const contactId = await contactAt(31)
      const unsubscribed = { contactId, how: 'link', emailId: 'm3', unsubscribed: true, leave: [], rejoin: [] }
      await noted(() =>
        audience.recipients.changePreferences(unsubscribed as never, {
          caller: serviceCaller('messaging', organization),
        }),
      )
      const signUp = { name: 'Signed Up', attributes: {}, tags: ['form'], lists: [await newList()] }
      const form = { collectionId: 'c'.repeat(24), entryId: 'e'.repeat(24), form: 'News', at: new Date().toISOString() }
      const request = { id: newId(), email: 'c32@example.com', ...signUp, ...form }
      await noted(() => audience.signUps.applySignUp(request, { caller: serviceCaller('content', organization) }))
    })

    it('delete', async () => {
      const id = await contactAt(40)
      await noted(() => audience.contacts.deleteContact({ id }, me))
    })

    it('deleted attributes', async () => {
      const found = await streamedJsonOf<Page<{ id: string }>>(audience.attributes.listAttributes({ list: {} }, me))
      await noted(() => audience.attributes.deleteAttribute({ id: found.docs[0]!.id }, me))
    })
  })

  it('lose the values of deleted contacts and attributes when they are rewritten', async () => {
    const { columnChunks } = data.collections.of(organization)
    const textOf = async (column: string) =>
      String((await columnChunks.findOne({ column, group: 0 }))?.text?.value() ?? '')
    assert.match(await textOf('emailKey'), /c40@example\.com/)
    assert.match(await textOf('attributes.city'), /city/)
    assert.deepEqual(await dueGroups(columns()), [0])
    const isFirst = await rewriteRowGroup(columns(), 0)
    if (!isFirst) await eventually('the job has', async () => (await dueGroups(columns())).length === 0)
    assert.doesNotMatch(await textOf('emailKey'), /c40@example\.com/)
    assert.equal(await textOf('attributes.city'), '')
    assert.equal(await data.collections.of(organization).staleRows.count(), 0)
  })

  it('are repaired where they are wrong', async () => {
    const { columnChunks } = data.collections.of(organization)
    // The job may rewrite the group before the command does.
    await eventually('the command finds and repairs them', async () => {
      await columnChunks.updateOne({ column: 'unsubscribed', group: 0 }, { $set: { specials: [3, 2] } })
      const wrong = (await checkRowGroup(columns(), 0)) ?? []
      const repairs = await repairColumns(data)
      const mine = repairs.filter(repair => repair.organization === organization)
      return wrong.length > 1000 && isDeepStrictEqual(mine, [{ organization, group: 0, contacts: wrong.length }])
    })
    assert.deepEqual(await checkRowGroup(columns(), 0), [])
  })
})
