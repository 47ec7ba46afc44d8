import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { GrowthPointJson } from '@rollcall/protos/gen/audience-v1.ts'
import type { Caller, Client } from '@rollcall/rpc'
import { Types } from 'mongoose'
import { jsonOf, startTestAudience, type TestAudience, testCaller } from '../../test/audience.ts'
import { type GrowthKind, growthKinds } from './growth.model.ts'

type Me = { caller: Caller }
type Counts = Record<GrowthKind, number>
type Stored = {
  _id: Types.ObjectId
  unsubscribed: boolean
  blocked: boolean
  lists?: Types.ObjectId[]
}
type Contacts = Map<string, Stored>

const zeros = (): Counts => ({ created: 0, unsubscribed: 0, blocked: 0, deleted: 0 })
const STEPS = 60

describe('growth', () => {
  let audience: TestAudience
  let lists: Client<'rollcall.audience.v1.Lists'>
  before(async () => {
    audience = await startTestAudience()
    lists = audience.client('rollcall.audience.v1.Lists')
  })
  after(() => audience.stop())

  const growth = (me: Me, query: object = {}) => jsonOf<GrowthPointJson[]>(audience.contacts.getGrowth(query, me))
  const createList = async (me: Me, name: string) =>
    (await jsonOf<{ id: string }>(lists.createList({ name, tags: [] }, me))).id
  const create = async (me: Me, email: string, rest: object = {}) =>
    (await jsonOf<{ id: string }>(audience.contacts.createContact({ email, tags: [], ...rest }, me))).id
  const ofOrganization = ({ caller }: Me) => ({ organization: new Types.ObjectId(caller.organizationId) })

  describe('equals a recount', () => {
    const read = async (me: Me): Promise<Contacts> => {
      const found = await audience.db.collection<Stored>('contacts').find(ofOrganization(me)).toArray()
      return new Map(found.map(contact => [String(contact._id), contact]))
    }
    const isOn = (contact: Stored | undefined, list: string) => contact?.lists?.some(id => String(id) === list) ?? false

    /** What a reader of the contacts before and after sees, of all of them or of one list. */
    const recount = (counts: Counts, was: Contacts, is: Contacts, list?: string) => {
      for (const id of new Set([...was.keys(), ...is.keys()])) {
        const [before, now] = [was.get(id), is.get(id)]
        const [wasIn, isIn] = list ? [isOn(before, list), isOn(now, list)] : [Boolean(before), Boolean(now)]
        if (isIn && !wasIn) counts.created++
        if (wasIn && !isIn) counts.deleted++
        if (!isIn || (list && before && !wasIn)) continue
        if (now?.unsubscribed && !before?.unsubscribed) counts.unsubscribed++
        if (now?.blocked && !before?.blocked) counts.blocked++
      }
    }

    it('after random changes by every path', async t => {
      const me = testCaller()
      const [one, two] = [await createList(me, 'One'), await createList(me, 'Two')]
      let seed = Number(process.env.SEED ?? 1)
      t.diagnostic(`SEED=${seed}`)
      const random = (below: number) => {
        seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
        return (seed >>> 8) % below
      }
      let [addresses, batches] = [0, 0]
      const address = () => `c${addresses++}@example.com`
      const jobId = String(new Types.ObjectId())
      const pick = async (count: number) => {
        const ids = [...(await read(me)).keys()]
        return new Set(Array.from({ length: Math.min(count, ids.length) }, () => ids[random(ids.length)]!))
      }
      const each = async (count: number, change: (id: string) => Promise<unknown>) => {
        await Promise.all([...(await pick(count))].map(change))
      }
      const row = (index: number) => ({
        row: index + 1,
        email: random(2) ? address() : `c${random(addresses + 1)}@example.com`,
        name: '',
        attributes: {},
        tags: [],
        clearTags: false,
        ...(random(3) === 0 && { unsubscribed: true }),
      })
      const selected = (contactIds: Iterable<string>) => ({
        id: random(2) ? one : two,
        contactIds: [...contactIds],
        emails: [],
      })
      const matching = () => ({ ...selected([]), filter: { unsubscribed: random(2) === 0 } })
      const paths: (() => Promise<unknown>)[] = [
        () => Promise.all([0, 1, 2].map(() => create(me, address(), { unsubscribed: random(2) === 0 }))),
        () => each(3, id => audience.contacts.updateContact({ id, unsubscribed: random(3) > 0 }, me)),
        () => each(3, id => audience.contacts.blockContact({ id, reason: '' }, me)),
        () => each(2, id => audience.contacts.unblockContact({ id }, me)),
        () => each(2, id => audience.contacts.deleteContact({ id }, me)),
        () =>
          audience.batches.applyBatch(
            {
              jobId,
              number: batches++,
              duplicateStrategy: 'update',
              tags: [],
              listIds: [one, two].slice(random(3)),
              rows: Array.from({ length: 6 }, (_, index) => row(index)),
            } as never,
            me,
          ),
        async () => batches > 0 && audience.batches.undoBatch({ jobId, number: random(batches) }, me),
        async () => lists.addMembers(selected([...(await pick(4)), String(new Types.ObjectId())]), me),
        async () => lists.removeMembers(selected([...(await pick(4)), String(new Types.ObjectId())]), me),
        () => lists.addMembers(matching(), me),
        () => lists.removeMembers(matching(), me),
      ]
      const expected = [zeros(), zeros(), zeros()] as const
      let was = await read(me)
      for (let step = 0; step < STEPS; step++) {
        await paths[step < paths.length ? step : random(paths.length)]!()
        const is = await read(me)
        for (const [index, list] of [undefined, one, two].entries()) recount(expected[index]!, was, is, list)
        was = is
      }
      for (const [index, list] of [undefined, one, two].entries()) {
        const points = await growth(me, list ? { list } : {})
        const sums = zeros()
        for (const point of points) for (const kind of growthKinds) sums[kind] += point[kind]
        assert.deepEqual(sums, expected[index], list ? 'a list' : 'all contacts')
        for (const kind of growthKinds) assert.ok(sums[kind] > 0, `${kind} is tried`)
        const members = [...was.values()].filter(contact => !list || isOn(contact, list))
        assert.equal(points.at(-1)!.total, members.length)
        assert.equal(points[0]!.total, 0, 'counts back to nothing')
      }
    })

    it('with many writers at once, and is gone with its list', async () => {
      const me = testCaller()
      const list = await createList(me, 'List')
      const ids = await Promise.all(Array.from({ length: 30 }, (_, index) => create(me, `c${index}@example.com`)))
      await lists.addMembers({ id: list, contactIds: ids, emails: [] }, me)
      await Promise.all([
        ...ids.slice(0, 10).map(id => audience.contacts.blockContact({ id, reason: '' }, me)),
        ...ids.slice(10, 20).map(id => audience.contacts.deleteContact({ id }, me)),
        ...ids.slice(20).map(id => audience.contacts.updateContact({ id, unsubscribed: true }, me)),
      ])
      const { at: _, ...now } = (await growth(me, { interval: 'month' })).at(-1)!
      assert.deepEqual(now, { created: 30, unsubscribed: 10, blocked: 10, deleted: 10, total: 20 })
      const { at: __, ...ofList } = (await growth(me, { list, interval: 'month' })).at(-1)!
      assert.deepEqual(ofList, now)
      await lists.deleteList({ id: list }, me)
      await assert.rejects(growth(me, { list }), { code: 'list.unknown', path: 'list' })
      const left = () => audience.db.collection('growth').countDocuments({ list: new Types.ObjectId(list) })
      for (const until = Date.now() + 10_000; (await left()) > 0; ) assert.ok(Date.now() < until)
    })
  })

  describe('as a series', () => {
    const monthsAgo = (count: number) => {
      const now = new Date()
      return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - count, 1))
    }
    const plant = (me: Me, month: Date, days: object, slot = 0) =>
      audience.db.collection('growth').insertOne({ ...ofOrganization(me), list: null, month, slot, days })

    it('sums days up by interval, and counts totals back from now', async () => {
      const me = testCaller()
      const [month, before] = [monthsAgo(2), monthsAgo(3)]
      await plant(me, before, { 1: { created: 1, deleted: 1 } })
      await plant(me, month, { 1: { created: 5 }, 9: { unsubscribed: 1 } })
      await plant(me, month, { 1: { created: 1, deleted: 2 }, 28: { created: 3, blocked: 1 } }, 7)
      for (const name of ['a', 'b']) await create(me, `${name}@example.com`)

      const day = (number: number) => new Date(Date.UTC(month.getUTCFullYear(), month.getUTCMonth(), number))
      const days = await growth(me, { from: day(1).toISOString(), to: day(28).toISOString().slice(0, 10) })
      assert.equal(days.length, 28)
      assert.deepEqual(days[0], { ...zeros(), at: day(1).toISOString(), created: 6, deleted: 2, total: 0 })
      assert.deepEqual(days[8], { ...zeros(), at: day(9).toISOString(), unsubscribed: 1, total: 0 })
      assert.deepEqual(days[27], { ...zeros(), at: day(28).toISOString(), created: 3, blocked: 1, total: 0 })

      const months = await growth(me, { from: before.toISOString(), interval: 'month' })
      assert.deepEqual(
        months.map(({ at, created, deleted }) => [at, created, deleted]),
        [
          [before.toISOString(), 1, 1],
          [month.toISOString(), 9, 2],
          [monthsAgo(1).toISOString(), 0, 0],
          [monthsAgo(0).toISOString(), 2, 0],
        ],
      )
      assert.equal(months.at(-1)!.total, 2)

      const weeks = await growth(me, { from: day(1).toISOString(), to: day(28).toISOString(), interval: 'week' })
      for (const { at } of weeks) assert.equal(new Date(at).getUTCDay(), 1, at)
      assert.ok(weeks[0]!.at <= day(1).toISOString())
      assert.equal(
        weeks.reduce((sum, { created }) => sum + created, 0),
        9,
      )
    })

    it('is of the last 30 days by day, ends now, and belongs to its organization', async () => {
      const me = testCaller()
      await create(me, 'a@example.com')
      const points = await growth(me)
      assert.equal(points.length, 30)
      assert.deepEqual([points.at(-1)!.created, points.at(-1)!.total, points.at(-2)!.total], [1, 1, 0])
      const ahead = await growth(me, { from: new Date().toISOString(), to: '2999-01-01', interval: 'month' })
      assert.equal(ahead.length, 1)
      assert.deepEqual(await growth(me, { from: '2998-01-01', to: '2999-01-01' }), [])
      assert.equal((await growth(testCaller())).at(-1)!.total, 0)
    })

    it('has at most 400 points, of a list that exists', async () => {
      const me = testCaller()
      const year = { from: '2025-01-01', to: '2026-02-04' }
      assert.equal((await growth(me, year)).length, 400)
      const refused = (query: object, path: string, code = 'request.invalid_field') =>
        assert.rejects(growth(me, query), { code, path })
      await refused({ ...year, to: '2026-02-05' }, 'from')
      await refused({ from: '0001-01-01', interval: 'month' }, 'from')
      await refused({ from: '2026-02-01', to: '2026-01-01' }, 'to')
      await refused({ list: String(new Types.ObjectId()) }, 'list', 'list.unknown')
      const [mine, theirs] = [await createList(me, 'Mine'), testCaller()]
      await assert.rejects(growth(theirs, { list: mine }), { code: 'list.unknown' })
      const narrow = { caller: { ...me.caller, permissions: ['audience.read'] } }
      await assert.rejects(growth(narrow, { list: mine }), { code: 'access.permission_denied' })
    })
  })
})
