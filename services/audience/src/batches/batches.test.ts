import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import type {
  ApplyBatchRequest,
  ApplyBatchResponse,
  ApplyBatchRequestRow as Row,
} from '@rollcall/protos/gen/audience-v1.ts'
import type { Call, Caller } from '@rollcall/rpc'
import { createLogger, pause } from '@rollcall/runtime'
import { connectStore, type Scope, type Store } from '@rollcall/store'
import { eventually } from '@rollcall/testing/eventually'
import { Types } from 'mongoose'
import {
  addressHasher,
  jsonOf,
  type Page,
  startTestAudience,
  streamedJsonOf,
  type TestAudience,
  testCaller,
} from '../../test/audience.ts'
import { type Collections, collections, type Tenant } from '../collections.ts'
import { contactPositions } from '../contacts/contact.model.ts'
import type { Adding } from '../context.ts'
import { applyBatch } from './apply-batch.ts'

/** Processes killed; more of them in a soak. */
const kills = Number(process.env.SOAK_KILLS ?? 2)

type Me = { caller: Caller }
type Contact = Record<string, unknown> & { id: string; email: string; name: string; tags: string[]; position: number }

const newJob = () => String(new Types.ObjectId())
const row = (number: number, rest: Partial<Row> = {}): Row => ({
  row: number,
  email: `c${number}@example.com`,
  name: `Contact ${number}`,
  attributes: {},
  tags: [],
  clearTags: false,
  ...rest,
})
const rows = (count: number, rest: Partial<Row> = {}) =>
  Array.from({ length: count }, (_, index) => row(index + 1, rest))
const request = (rest: Partial<ApplyBatchRequest>): ApplyBatchRequest => ({
  jobId: newJob(),
  number: 0,
  duplicateStrategy: 'update',
  tags: [],
  listIds: [],
  rows: [],
  ...rest,
})

describe('batches', () => {
  let audience: TestAudience
  before(async () => {
    audience = await startTestAudience()
  })
  after(() => audience.stop())

  const apply = (me: Me, batch: Partial<ApplyBatchRequest>) => audience.batches.applyBatch(request(batch), me)
  const list = (me: Me, query: object = { limit: 1000 }) =>
    streamedJsonOf<Page<Contact>>(audience.contacts.listContacts({ list: query }, me))
  const timeline = async (me: Me, id: string) =>
    (await streamedJsonOf<Page<Record<string, unknown>>>(audience.contacts.listTimeline({ id }, me))).docs
  /** All records of an organization, without fields that differ between runs. */
  const stored = async ({ caller }: Me) => {
    const organization = new Types.ObjectId(caller.organizationId)
    const all = (name: string) => audience.db.collection(name).find({ organization }).sort({ _id: 1 }).toArray()
    const [contacts, history, batches, register] = await Promise.all(
      ['contacts', 'history', 'batches', 'positions'].map(all),
    )
    const names = new Map(contacts!.map(({ _id, email }) => [String(_id), email]))
    return {
      contacts: contacts!.map(({ _id, organization, createdAt, updatedAt, unsubscribedAt, ...rest }) => rest),
      history: history!.map(({ person, type, data }) => ({ email: names.get(String(person)), type, data })),
      batches: batches!.map(({ outcomes, failures, created }) => ({ outcomes, failures, created: created.length })),
      register: register!.map(({ last, total, holes }) => ({ last, total, holes })),
    }
  }

  it('returns the result of a batch, and cancels one that has not arrived', async () => {
    const me = testCaller()
    const jobId = newJob()
    const first = await apply(me, { jobId, rows: rows(3) })
    const settled = await apply(me, { jobId, settle: true })
    assert.deepEqual(settled, first)
    for (let time = 0; time < 2; time++) {
      assert.deepEqual((await apply(me, { jobId, number: 1, settle: true })).outcomes, [])
    }
    const late = await apply(me, { jobId, number: 1, rows: [row(4)] })
    assert.deepEqual(late.outcomes, ['SKIPPED'])
    assert.equal((await list(me)).totalDocs, 3)
    const nothing = { deleted: 0, restored: 0, kept: 0, removedFromLists: 0 }
    assert.deepEqual(await audience.batches.undoBatch({ jobId, number: 1 }, me), nothing)
  })

  it('answers after mail that is being handed over, if a known contact is opted out or goes', async () => {
    const me = testCaller()
    const holds = audience.db.collection('holds')
    const until = new Date(Date.now() + 600_000)
    const hold = { organization: new Types.ObjectId(me.caller.organizationId), keys: [], until }
    const whileHeld = async (answer: () => Promise<unknown>, isDone: () => Promise<boolean>) => {
      const { insertedId: _id } = await holds.insertOne({ ...hold })
      let isAnswered = false
      const waiting = answer().then(() => {
        isAnswered = true
      })
      await eventually('it is done', isDone)
      assert.equal(isAnswered, false)
      await holds.deleteOne({ _id })
      await waiting
    }
    const jobId = newJob()
    const { insertedId } = await holds.insertOne({ ...hold })
    await apply(me, { jobId, rows: rows(2, { unsubscribed: false }) }) // does not wait
    await apply(me, { jobId, number: 1, rows: [row(3, { unsubscribed: true })] }) // nor for one who is new
    await holds.deleteOne({ _id: insertedId })
    await whileHeld(
      () => apply(me, { rows: [row(1, { unsubscribed: true })] }),
      async () => (await list(me)).docs.filter(({ unsubscribed }) => unsubscribed).length === 2,
    )
    await whileHeld(
      () => audience.batches.undoBatch({ jobId, number: 0 }, me),
      async () => (await list(me)).totalDocs === 2, // the first was changed by another import since
    )
  })

  it('creates, updates, leaves alone and fails rows', async () => {
    const me = testCaller()
    const body = { name: 'age', slug: 'age', type: 'number', options: [] } as const
    await audience.attributes.createAttribute({ ...body, options: [] }, me)
    const jobId = newJob()
    const first = await apply(me, { jobId, rows: rows(3, { attributes: { age: 1 } }), tags: ['job'] })
    assert.deepEqual(first, {
      outcomes: ['CREATED', 'CREATED', 'CREATED'],
      optOutsKept: 0,
      failures: [],
      addedToLists: 0,
      previews: [],
    })
    const before = (await list(me)).docs

    const second = await apply(me, {
      rows: [
        row(1, { attributes: { age: 1 } }),
        row(2, { name: 'Changed', attributes: { age: null }, tags: ['more'], unsubscribed: true }),
        row(4, { email: 'nobody' }),
        row(5),
      ],
    })
    assert.deepEqual(second.outcomes, ['UNCHANGED', 'UPDATED', 'FAILED', 'CREATED'])
    assert.deepEqual(second.failures, [
      { row: 4, field: 'email', value: 'nobody', code: 'invalid_field', message: 'must be an email address' },
    ])

    const { docs, totalDocs } = await list(me)
    assert.equal(totalDocs, 4)
    assert.deepEqual(
      docs.map(({ email }) => email),
      ['c5', 'c3', 'c2', 'c1'].map(name => `${name}@example.com`),
    )
    assert.deepEqual(docs.slice(3), before.slice(2), 'unchanged means untouched')
    const changed = docs[2]!
    assert.deepEqual([changed.name, changed.attributes, changed.tags], ['Changed', {}, ['job', 'more']])
    assert.deepEqual([changed.unsubscribed, changed.unsubscribedAt], [true, changed.updatedAt])
    assert.notEqual(changed.importJob, jobId)
    assert.equal(changed.source, 'import')
    const entries = await audience.db.collection('outbox').find({ 'event.subject': changed.id }).toArray()
    const optOuts = entries.flatMap(({ event }) => event).filter(({ type }) => type === 'contact.unsubscribed')
    assert.deepEqual(
      optOuts.map(({ subject, data }) => [subject, data.how, data.actor.kind]),
      [[changed.id, 'import', 'import']],
    )
  })

  it('shows in the timeline and the history of attributes', async () => {
    const me = testCaller()
    const [jobId, secondId] = [newJob(), newJob()]
    await apply(me, { jobId, rows: rows(1) })
    await apply(me, { jobId: secondId, rows: [row(7, { email: 'C1@example.com', name: 'Changed', tags: ['a'] })] })
    const { id } = (await list(me)).docs[0]!
    for (let look = 0; look < 2; look++) {
      const [imported, created, ...more] = await timeline(me, id)
      assert.deepEqual(more, [])
      const actor = (job: string) => ({ kind: 'import', id: job, name: 'CSV import' })
      assert.deepEqual(
        [created?.type, created?.actor, created?.data],
        ['contact.created', actor(jobId), { importJob: jobId }],
      )
      assert.deepEqual([imported?.type, imported?.actor], ['contact.imported', actor(secondId)])
    }
    const history = audience.contacts.listAttributesHistory({ id }, me)
    const { docs } = await streamedJsonOf<Page<Record<string, unknown>>>(history)
    assert.deepEqual(
      docs.map(({ key, from, to, importJob, row }) => [key, from, to, importJob, row]),
      [
        ['name', 'Contact 1', 'Changed', secondId, 7],
        ['tags', [], ['a'], secondId, 7],
      ],
    )
  })

  it('publishes no event per contact that it creates', async () => {
    const me = testCaller()
    await apply(me, { rows: rows(3) })
    assert.equal(
      await audience.db.collection('outbox').countDocuments({ 'event.organization': me.caller.organizationId }),
      0,
    )
  })

  it('answers a batch applied again as the first time, and changes nothing', async () => {
    const me = testCaller()
    await apply(me, { rows: rows(5) })
    const batch = { jobId: newJob(), number: 3, rows: [...rows(8, { tags: ['a'] }), row(9, { email: '' })] }
    const first = await apply(me, batch)
    const after = await stored(me)
    assert.deepEqual(await apply(me, batch), first)
    assert.deepEqual(await apply(me, { ...batch, rows: [] }), first)
    const { outcomes, failures } = await apply(me, { ...batch, rows: batch.rows.slice(1, -1) })
    assert.deepEqual([outcomes, failures], [first.outcomes.slice(1, -1), []], 'of the rows that are sent')
    assert.deepEqual(await stored(me), after)
  })

  it('is applied once when it comes many times at once', async () => {
    const me = testCaller()
    const batch = { jobId: newJob(), rows: rows(50) }
    const answers = await Promise.all(Array.from({ length: 5 }, () => apply(me, batch)))
    for (const answer of answers) assert.deepEqual(answer, answers[0])
    assert.deepEqual(answers[0]?.outcomes, Array(50).fill('CREATED'))
    assert.equal((await list(me)).totalDocs, 50)
  })

  it('keeps organizations apart', async () => {
    const [me, stranger] = [testCaller(), testCaller()]
    const batch = { jobId: newJob(), rows: rows(3) }
    await apply(stranger, batch)
    const theirs = await stored(stranger)
    assert.deepEqual((await apply(me, batch)).outcomes, ['CREATED', 'CREATED', 'CREATED'])
    await apply(me, { rows: rows(3, { name: 'Changed' }) })
    assert.deepEqual(await stored(stranger), theirs)
  })

  it('gives every email one contact when several imports bring it at once', async () => {
    const me = testCaller()
    const jobs = ['a', 'b', 'c', 'd']
    const answers = await Promise.all(
      jobs.flatMap(tag =>
        [0, 1].map(number => apply(me, { jobId: newJob(), rows: rows(60, { tags: [tag, `${tag}${number}`] }) })),
      ),
    )
    const created = answers.flatMap(({ outcomes }) => outcomes.filter(outcome => outcome === 'CREATED'))
    assert.equal(created.length, 60)
    const { docs, totalDocs } = await list(me)
    assert.deepEqual([docs.length, totalDocs], [60, 60])
    const tags = jobs.flatMap(tag => [tag, `${tag}0`, `${tag}1`]).sort()
    for (const contact of docs) assert.deepEqual([...contact.tags].sort(), tags, 'nobody overwrites another')
    const { register, contacts } = await stored(me)
    assert.deepEqual(register, [{ last: 60, total: 60, holes: {} }])
    assert.deepEqual(new Set(contacts.map(({ position }) => position)).size, 60)
  })

  it('goes together with API writes of the same contacts', async () => {
    const me = testCaller()
    await apply(me, { rows: rows(40) })
    const { docs } = await list(me)
    const edits = docs.map(({ id }) => audience.contacts.updateContact({ id, name: 'Edited' }, me))
    const creations = Array.from({ length: 10 }, (_, index) =>
      audience.contacts.createContact({ email: `C${41 + index}@example.com`, tags: ['api'] }, me).then(
        () => true,
        error => error.code === 'record.duplicate',
      ),
    )
    const imports = [0, 1, 2].map(number => apply(me, { number, rows: rows(50, { name: '', tags: [`t${number}`] }) }))
    const [results] = await Promise.all([Promise.all(creations), Promise.all(imports), Promise.all(edits)])
    assert.ok(results.every(Boolean))
    const after = await list(me)
    assert.deepEqual([after.docs.length, after.totalDocs], [50, 50])
    for (const { email, name, tags } of after.docs) {
      assert.deepEqual(tags.filter(tag => tag !== 'api').sort(), ['t0', 't1', 't2'], email)
      if (Number(/\d+/.exec(email)?.[0]) <= 40) assert.equal(name, 'Edited')
    }
  })

  it('takes back what a deleted contact had, and gives it a new place', async () => {
    const me = testCaller()
    await apply(me, { rows: rows(3) })
    const { id } = (await list(me)).docs[1]!
    await jsonOf(audience.contacts.deleteContact({ id }, me))
    assert.deepEqual((await apply(me, { rows: rows(3) })).outcomes, ['UNCHANGED', 'CREATED', 'UNCHANGED'])
    const { docs, totalDocs } = await list(me)
    assert.deepEqual([docs.map(({ name }) => name), totalDocs], [['Contact 2', 'Contact 3', 'Contact 1'], 3])
  })

  describe('killed', () => {
    let store: Store
    before(async () => {
      const logger = createLogger({ service: 'audience', level: 'silent' })
      store = await connectStore({ url: process.env.MONGODB_URL!, dbName: audience.db.databaseName, logger })
    })
    after(() => store.close())

    const logger = createLogger({ service: 'audience', level: 'silent' })
    const callOf = ({ caller }: Me): Call => ({
      caller,
      requestId: '',
      deadline: Date.now() + 20_000,
      signal: new AbortController().signal,
      logger,
    })
    const batch = request({
      rows: [row(1), row(2, { name: 'Changed', tags: ['b'] }), row(3), row(4, { email: 'nobody' }), row(5)],
      tags: ['job'],
    })
    const prepare = async () => {
      const me = testCaller()
      await apply(me, { jobId: batch.jobId, number: 7, rows: rows(3, { tags: ['a'] }), tags: ['job'] })
      return me
    }

    it('at any step, it comes to the same when it is applied again', async t => {
      const calm = await prepare()
      const answer = await applyBatch(
        { store, collections: collections(store), logger, addressHasher },
        batch,
        callOf(calm),
      )
      const expected = await stored(calm)
      let survived = false
      for (let step = 1; !survived; step++) {
        const me = await prepare()
        const before = await stored(me)
        const doomed = killedAt({ store, collections: collections(store), logger, addressHasher }, step)
        survived = await applyBatch(doomed, batch, callOf(me)).then(
          () => true,
          () => false,
        )
        if (!survived) assert.deepEqual(await stored(me), before, `step ${step} leaves nothing behind`)
        assert.deepEqual(
          await applyBatch({ store, collections: collections(store), logger, addressHasher }, batch, callOf(me)),
          answer,
        )
        assert.deepEqual(await stored(me), expected, `killed at step ${step}`)
        if (survived) t.diagnostic(`killed at ${step - 1} steps`)
      }
    })

    it('leaves traces where there is no transaction, or this test would prove nothing', async () => {
      let traces = 0
      for (let step = 1; step <= 6; step++) {
        const me = await prepare()
        const before = await stored(me)
        const doomed = killedAt({ store, collections: collections(store), logger, addressHasher }, step)
        const naive = { ...doomed, store: { ...store, transaction: work => work(undefined as never) } satisfies Store }
        await assert.rejects(applyBatch(naive, batch, callOf(me)), /killed|Store\.transaction/)
        if (!isDeepStrictEqual(await stored(me), before)) traces++
      }
      assert.ok(traces > 0)
    })

    describe('while others wait for positions', () => {
      const context = () => ({ store, collections: collections(store), logger, addressHasher })
      /** Rows of which a part needs several more: some emails occur twice. */
      const large = request({ rows: [...rows(600), row(601, { email: 'c1@example.com', name: 'Last' }), row(602)] })
      /** An organization in which a creation has waited. */
      const awaited = async () => {
        const me = testCaller()
        await contactPositions({ store }, me.caller.organizationId).announceWait()
        return me
      }
      /** Counts transactions, and fails after some. */
      const counted = (most = Number.POSITIVE_INFINITY) => {
        const count = { transactions: 0 }
        const transaction: Store['transaction'] = async (work, options) => {
          if (count.transactions === most) throw new Error('killed')
          count.transactions++
          return store.transaction(work, options)
        }
        return { count, data: { ...context(), store: { ...store, transaction } } }
      }
      const outcomes = ['SKIPPED', ...Array(599).fill('CREATED'), 'CREATED', 'CREATED']

      it('is applied in parts, with the same result', async () => {
        const [calm, me] = [testCaller(), await awaited()]
        const expected = await applyBatch(context(), large, callOf(calm))
        assert.deepEqual(expected.outcomes, outcomes)
        const { count, data } = counted()
        assert.deepEqual(await applyBatch(data, large, callOf(me)), expected)
        assert.equal(count.transactions, 3)
        assert.equal((await stored(me)).contacts.length, 601)
        const { count: alone, data: again } = counted()
        await applyBatch(again, { ...large, jobId: newJob() }, callOf(calm))
        assert.equal(alone.transactions, 1)
      })

      it('is continued after a crash, with or without others who wait', async () => {
        for (const isAwaited of [true, false]) {
          const me = await awaited()
          await assert.rejects(applyBatch(counted(1).data, large, callOf(me)), /killed/)
          assert.equal((await stored(me)).contacts.length, 250)
          const leases = audience.db.collection('leases')
          if (!isAwaited) await leases.deleteMany({ _id: new RegExp(me.caller.organizationId) as never })
          assert.deepEqual((await applyBatch(context(), large, callOf(me))).outcomes, outcomes)
          assert.equal((await stored(me)).contacts.length, 601)
          const { jobId, number } = large
          const undone = await audience.batches.undoBatch({ jobId, number }, { ...me, deadline: Date.now() + 30_000 })
          assert.deepEqual(undone, { deleted: 601, restored: 0, kept: 0, removedFromLists: 0 })
        }
      })

      it('is continued with the rows that are sent now', async () => {
        const me = await awaited()
        await assert.rejects(applyBatch(counted(1).data, large, callOf(me)), /killed/)
        const [applied, left] = [2, 600]
        const rows = [...large.rows.filter(({ row }) => row !== applied && row !== left), row(603)]
        const again = { ...large, rows }
        const expected = ['SKIPPED', ...Array(rows.length - 1).fill('CREATED')]
        for (let time = 0; time < 2; time++)
          assert.deepEqual((await applyBatch(context(), again, callOf(me))).outcomes, expected)
        const { contacts } = await stored(me)
        const created = large.rows.slice(0, 600).filter(({ row }) => row !== left)
        assert.deepEqual(
          contacts.map(({ email }) => email).sort(),
          [...created, row(602), row(603)].map(({ email }) => email).sort(),
        )
      })

      it('ends if none of its rows left is sent any more', async () => {
        const me = await awaited()
        await assert.rejects(applyBatch(counted(1).data, large, callOf(me)), /killed/)
        const sent = { ...large, rows: large.rows.slice(0, 100) }
        assert.deepEqual((await applyBatch(context(), sent, callOf(me))).outcomes, outcomes.slice(0, 100))
        assert.equal((await stored(me)).contacts.length, 250)
      })

      it('is undone and ended as far as it came, and not continued', async () => {
        const { jobId, number } = large
        const [undone, ended] = [await awaited(), await awaited()]
        for (const me of [undone, ended]) await assert.rejects(applyBatch(counted(2).data, large, callOf(me)), /killed/)
        const counts = await audience.batches.undoBatch({ jobId, number }, { ...undone, deadline: Date.now() + 30_000 })
        assert.deepEqual([counts.deleted, (await stored(undone)).contacts.length], [500, 0])
        const settled = await apply(ended, { jobId, number, settle: true })
        assert.deepEqual([settled.outcomes.length, (await stored(ended)).contacts.length], [501, 500])
        for (const me of [undone, ended]) {
          const before = await stored(me)
          await applyBatch(context(), large, callOf(me))
          assert.deepEqual(await stored(me), before)
        }
      })
    })

    it('with its whole process, it comes to the same on another replica, soon', async t => {
      const calm = testCaller()
      const first = { jobId: newJob(), rows: rows(200) }
      await apply(calm, first)
      const changing = { jobId: newJob(), rows: rows(600, { name: 'Changed', tags: ['a'] }) }
      const answer = await apply(calm, changing)
      const expected = await stored(calm)
      for (let kill = 1; kill <= kills; kill++) {
        const me = testCaller()
        await apply(me, first)
        const replica = await audience.replica()
        const doomed = replica.batches.applyBatch(request(changing), me).then(
          () => 'answered',
          () => 'lost',
        )
        await pause(Math.random() * 300)
        await replica.kill('SIGKILL')
        const killedAt = performance.now()
        const again = await audience.batches.applyBatch(request(changing), { ...me, deadline: Date.now() + 30_000 })
        t.diagnostic(`${await doomed}, applied again after ${Math.round(performance.now() - killedAt)} ms`)
        assert.deepEqual(again, answer)
        assert.deepEqual(await stored(me), expected)
      }
    })

    it('after the commit, it answers what it did', async () => {
      const me = await prepare()
      const context = { store, collections: collections(store), logger, addressHasher }
      const losingAnswer: Adding = {
        ...context,
        store: {
          ...store,
          transaction: async (work, options) => {
            await store.transaction(work, options)
            throw new Error('killed')
          },
        },
      }
      await assert.rejects(applyBatch(losingAnswer, batch, callOf(me)), /killed/)
      const after = await stored(me)
      const answer: ApplyBatchResponse = await applyBatch(context, batch, callOf(me))
      assert.deepEqual(answer.outcomes, ['UNCHANGED', 'UPDATED', 'UNCHANGED', 'FAILED', 'CREATED'])
      assert.deepEqual(await stored(me), after)
    })
  })
})

/** A context whose nth operation on a collection never resolves. */
function killedAt(context: Adding, step: number): Adding {
  let steps = 0
  const doomed = <T>(scope: Scope<T>): Scope<T> =>
    new Proxy(scope, {
      get(target, name: keyof Scope<T>) {
        const member = target[name]
        if (typeof member !== 'function') return member
        return async (...args: unknown[]) => {
          if (++steps === step) throw new Error('killed')
          return (member as (...args: unknown[]) => unknown)(...args)
        }
      },
    })
  const of: Collections['of'] = (...given) =>
    new Proxy(context.collections.of(...given), {
      get: (tenant, name: keyof Tenant) => doomed(tenant[name] as Scope<object>),
    })
  return { ...context, collections: { ...context.collections, of } }
}
