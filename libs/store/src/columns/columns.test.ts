import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import type { Model } from 'mongoose'
import { anyFilter, columnFields, oddPerson } from '../../test/columns.filters.ts'
import { compareWithPlainMatcher, tryColumns } from '../../test/columns.harness.ts'
import { columnModels, peopleWithColumns } from '../../test/columns.ts'
import { newOrganization, type Person, people, testStore } from '../../test/store.ts'
import { parseFilter } from '../query/filter.ts'
import type { Store } from '../tenancy/connection.ts'
import { checkRowGroup } from './check.ts'
import { dueGroups } from './due-groups.ts'
import { rewriteRowGroup } from './rewrite.ts'
import { GROUP_ROWS } from './row-group.model.ts'

const PEOPLE = GROUP_ROWS + 500

it('columns agree with a plain matcher', async () => {
  const report = await compareWithPlainMatcher({ filters: 2000, seed: 1 })
  assert.deepEqual(report.wrong, [])
  assert.ok(report.maybe < report.outcomes / 4, `${report.maybe} of ${report.outcomes} are left to the record`)
})

describe('columns', () => {
  let store: Store
  let drop: () => Promise<void>
  let model: Model<Person>
  before(async () => {
    ;({ store, drop } = await testStore())
    columnModels(store)
    model = await people(store)
  })
  after(() => drop())

  it('find what the database finds', async () => {
    const world = peopleWithColumns(store, model, newOrganization())
    await world.leaveHoles(GROUP_ROWS - 1000)
    await world.add(Array.from({ length: 1500 }, (_, number) => oddPerson(number)))
    const compare = async (filter: object) => {
      const { found, expected } = await world.both(filter)
      if (found) assert.deepEqual(found, expected, JSON.stringify(filter))
      return found !== undefined
    }
    assert.equal(await compare({ name: 'Ann' }), false, 'without columns')
    for (const group of [0, 1]) assert.ok(await rewriteRowGroup(world.data, group))
    for (const group of [0, 1]) assert.deepEqual(await checkRowGroup(world.data, group), [])
    let answered = 0
    const agrees = fc.asyncProperty(anyFilter, async filter => {
      if (await compare(parseFilter(JSON.stringify(filter), columnFields))) answered++
    })
    await fc.assert(agrees, { numRuns: 60 })
    assert.ok(answered > 40, `${answered} answered`)
  })

  it('count the texts of a field as the database does, without columns, with them, and with stale rows', async () => {
    const world = peopleWithColumns(store, model, newOrganization())
    for (let from = 0; from < PEOPLE; from += 1000)
      await world.add(Array.from({ length: Math.min(1000, PEOPLE - from) }, (_, index) => oddPerson(from + index)))
    const agree = async () => {
      const { found, expected } = await world.tagCounts()
      assert.ok(expected.size > 2)
      assert.deepEqual(found, expected)
    }
    await agree()
    await rewriteRowGroup(world.data, 0)
    await agree()
    const tagged = { tags: ['a tag of three', 'a tag of its own'] }
    await store.transaction(async tx => {
      await world.records.updateMany({ position: { $in: [5, 17, 4000] } }, { $set: tagged }, { tx })
      await world.list.invalidate(tx, [5, 17, 4000])
      await world.records.deleteMany({ position: 9 }, { tx })
      await world.list.release(tx, [9])
    })
    await agree()
    for (const group of [0, 1]) await rewriteRowGroup(world.data, group)
    await agree()
    await store.transaction(async tx => {
      await world.records.insertMany([{ ...oddPerson(PEOPLE), ...tagged, position: 9 }], { tx })
      await world.list.reclaim(tx, [9])
    })
    await agree()
  })

  it('judge stale rows without giving the database a pattern', async () => {
    const world = peopleWithColumns(store, model, newOrganization())
    await world.add(Array.from({ length: 1200 }, (_, number) => oddPerson(number)))
    await rewriteRowGroup(world.data, 0)
    const filter = { name: { $regex: '[b-d]han.*d' } }
    await store.transaction(async tx => {
      await world.records.updateMany({ position: { $in: [5, 17] } }, { $set: { name: 'changed' } }, { tx })
      await world.list.invalidate(tx, [5, 17, 18])
      await world.records.deleteMany({ position: 9 }, { tx })
      await world.list.release(tx, [9])
    })
    const stream = () => assert.fail('the database is asked')
    const found = await world.columns.search({ records: { ...world.records, stream }, filter, unique: [] })
    assert.deepEqual(found?.highest(3), [17, 5])
  })

  it('are not used after a change of a release that notes nothing, until they are written again', async () => {
    const organization = newOrganization()
    const world = peopleWithColumns(store, model, organization)
    await world.add(Array.from({ length: 1200 }, (_, number) => oddPerson(number)))
    await rewriteRowGroup(world.data, 0)
    const filter = { name: 'Changed' }
    assert.deepEqual((await world.both(filter)).found, [])
    await world.records.updateOne({ position: 7 }, { $set: filter })
    const slot = { organization, name: 'changes of people', slot: 0 }
    await store.connection.collection('counters').updateOne(slot, { $inc: { value: 1 } }, { upsert: true })
    assert.deepEqual(await world.both(filter), { found: undefined, expected: [7] })
    assert.deepEqual(await dueGroups(world.data), [0])
    await rewriteRowGroup(world.data, 0)
    assert.deepEqual(await world.both(filter), { found: [7], expected: [7] })
    assert.deepEqual(await dueGroups(world.data), [])
  })

  it('are exact while others write, rewrite and are killed', async t => {
    const report = await tryColumns(store, model, { searches: 60, kills: 1, seed: 1 })
    t.diagnostic(JSON.stringify(report))
    assert.deepEqual(report.wrong, [])
    assert.ok(report.answered > report.searches / 2)
  })

  it('are not if writers do not note stale rows', async () => {
    const report = await tryColumns(store, model, { searches: 60, kills: 0, seed: 1, withoutNotes: true })
    assert.notDeepEqual(report.wrong, [])
  })
})
