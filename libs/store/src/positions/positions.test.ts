import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { pause } from '@rollcall/runtime'
import type { ClientSession, Model, PipelineStage } from 'mongoose'
import { draft, newOrganization, type Person, people, recordingStore, testStore } from '../../test/store.ts'
import type { Store } from '../tenancy/connection.ts'
import { scoped } from '../tenancy/scope.ts'
import { organizationsWith, positionModel, positions, spansOf } from './positions.ts'

describe('spans of positions', () => {
  for (const isNewestFirst of [true, false]) {
    it(`contain each record once, ${isNewestFirst ? 'newest' : 'oldest'} first, whatever their sizes`, () => {
      const last = 10_000
      const emptyBlocks = new Map([1, 2, 6].map(block => [block, 1024]))
      const hasRecords = (position: number) => !emptyBlocks.has(Math.floor((position - 1) / 1024))
      const spans = spansOf({ last, holes: emptyBlocks }, isNewestFirst)
      const sizes = [1, 7, 3000, 100, 2048, 1023, 1024, 1025, 8192, 8192, 8192]
      const found: number[] = []
      for (const size of sizes) {
        const span = spans.next(size)
        if (!span) break
        assert.ok(span.high - span.low < size)
        if (size === 2048) {
          spans.giveBack(span)
          continue
        }
        const inside = Array.from({ length: span.high - span.low + 1 }, (_, index) => span.low + index)
        found.push(...(isNewestFirst ? inside.reverse() : inside).filter(hasRecords))
      }
      const all = Array.from({ length: last }, (_, index) => index + 1).filter(hasRecords)
      assert.deepEqual(found, isNewestFirst ? all.reverse() : all)
      assert.equal(spans.next(1), undefined)
    })
  }
})

describe('the register of positions', () => {
  let store: Store
  let model: Model<Person>
  let drop: () => Promise<void>
  before(async () => {
    ;({ store, drop } = await testStore())
    model = await people(store)
  })
  after(() => drop())

  const listOf = (organization = newOrganization()) => {
    const mine = scoped(model, organization)
    const register = positions(store, organization, 'people')
    const key = { organization, name: 'people' }
    let next = 0
    const add = (count: number) =>
      store.transaction(async tx => {
        const { first, at } = await register.take(tx, count)
        const drafts = Array.from({ length: count }, (_, index) =>
          draft(next++, { position: first + index, createdAt: at }),
        )
        await mine.insertMany(drafts, { tx })
      })
    const remove = (gone: number[]) =>
      store.transaction(async tx => {
        await mine.deleteMany({ position: { $in: gone } }, { tx })
        await register.release(tx, gone)
      })
    return { organization, mine, register, key, add, remove }
  }

  it('takes back positions that a transaction does not need', async () => {
    const { mine, register, add } = listOf()
    await add(10)
    await store.transaction(async tx => {
      const { first } = await register.take(tx, 5)
      await register.giveBack(tx, 2)
      assert.equal(first, 11)
      await mine.insertMany(
        [11, 12, 13].map(position => draft(1000 + position, { position })),
        { tx },
      )
    })
    const { total, last, holes } = await register.read()
    assert.deepEqual({ total, last, holes: holes.size }, { total: 13, last: 13, holes: 0 })
    assert.equal(await register.repair(mine), undefined)
  })

  it('is set right by a repair, which leaves alone what is right', async () => {
    const { mine, register, key, add, remove } = listOf()
    const repair = () => register.repair(mine)
    assert.equal(await repair(), undefined, 'there is no list')
    await add(2500)
    await remove([1, 2, 1024, 1025, 2500])
    assert.equal(await repair(), undefined)
    const right = await register.read()

    for (const damage of [{ total: 7 }, { holes: {} }, { holes: { 0: 1, 1: 9 } }, { last: 2000 }]) {
      await positionModel(store).collection.updateOne(key, { $set: damage })
      const was = damage.total ?? 2495
      assert.deepEqual(await repair(), { was, is: 2495 })
      const { changes, ...repaired } = await register.read()
      assert.ok(changes > right.changes, 'what was counted before is counted again')
      const last = damage.last === undefined ? 2500 : 2499 // the place of the last record that there is
      const holes = new Map([...right.holes].filter(([block]) => last === 2500 || block < 2))
      assert.deepEqual(repaired, { total: 2495, last, holes })
      await positionModel(store).collection.updateOne(key, { $set: { last: 2500, 'holes.2': 1 } })
    }

    await positionModel(store).collection.deleteOne(key)
    assert.deepEqual(await repair(), { was: 0, is: 2495 })
    assert.equal(await repair(), undefined)
    await mine.deleteMany({})
    assert.deepEqual(await repair(), { was: 2495, is: 0 })
    await add(1)
    assert.equal((await mine.findOne({}))?.position, 2500, 'no place is given out twice')
  })

  it('is repaired by short transactions, however long it is', async () => {
    const { store, drop, sent } = await recordingStore()
    const mine = scoped(await people(store), newOrganization())
    const register = positions(store, mine.organization, 'people')
    await mine.insertMany([1, 1500, 70_000, 140_000].map((position, index) => draft(index, { position })))
    assert.deepEqual(await register.repair(mine), { was: 0, is: 4 })
    assert.equal(await register.repair(mine), undefined)
    const { total, last, holes } = await register.read()
    assert.deepEqual([total, last, holes.get(0), holes.get(1), holes.get(136)], [4, 140_000, 1023, 1023, 735])
    const ranges = sent('aggregate', 'people').map(({ pipeline }) => (pipeline as PipelineStage.Match[])[0]!.$match)
    for (const { position } of ranges) assert.ok(position.$lte - position.$gt <= 65_536)
    await drop()
  })

  it('sends its holes again only when it has changed', async () => {
    const { store, drop, replies } = await recordingStore()
    const mine = scoped(await people(store), newOrganization())
    const register = positions(store, mine.organization, 'people')
    await store.transaction(tx => register.take(tx, 3))
    const release = (position: number) => store.transaction(tx => register.release(tx, [position]))
    await release(1)
    const holesSent = () => 'holes' in (replies('find', 'positions').at(-1)! as { holes?: object })
    for (const holes of [1, 2]) {
      assert.deepEqual([(await register.read()).holes.get(0), holesSent()], [holes, true])
      assert.deepEqual([(await register.read()).holes.get(0), holesSent()], [holes, false])
      await release(2)
    }
    await drop()
  })

  it('is awaited for some seconds after a writer has waited', async () => {
    const { register } = listOf()
    const { register: another } = listOf()
    assert.equal(await register.isAwaited(), false)
    await Promise.all([register.announceWait(), register.announceWait()])
    assert.deepEqual([await register.isAwaited(), await another.isAwaited()], [true, false])
  })

  it('counts only the records of its list, in its organization', async () => {
    const { organization, mine, register, add } = listOf()
    await add(10)
    await listOf().add(3)
    await mine.updateMany({ position: { $lte: 4 } }, { $set: { active: false } })
    assert.deepEqual(await register.repair(mine, { active: true }), { was: 10, is: 6 })
    const found = await organizationsWith(store, 'people')
    assert.ok(found.some(each => each.equals(organization)))
    assert.deepEqual(await organizationsWith(store, 'others'), [])
  })

  it('is repaired beside writers that go on', async () => {
    const { mine, register, key, add, remove } = listOf()
    await add(100)
    await positionModel(store).collection.updateOne(key, { $set: { total: 1 } })
    await Promise.all([register.repair(mine), add(5), remove([1, 2]), add(5)])
    assert.equal((await register.read()).total, 108)
    assert.equal(await register.repair(mine), undefined)
  })

  describe('lets a fence meet', () => {
    type Register = ReturnType<typeof positions>
    type Change = (register: Register, tx: ClientSession) => Promise<unknown>
    const touch: Change = (register, tx) => register.invalidate(tx, [1])
    const lock: Change = (register, tx) => register.lockMembership(tx)
    const take: Change = (register, tx) => register.take(tx, 1)
    const release: Change = (register, tx) => register.release(tx, [1])

    const fence = (register: Register) => store.transaction(tx => register.lockAll(tx))

    for (const [what, change, count] of [
      ['a change of a record', touch, 1],
      ['the first change of a record', touch, 0],
      ['long work', lock, 1],
      ['a new record', take, 1],
      ['the first record', take, 0],
      ['a record that goes', release, 1],
    ] as const) {
      it(`${what}, which begins again where it began before and ends after`, async () => {
        const { register, add } = listOf()
        if (count > 0) await add(count)
        let tries = 0
        let fenced: Promise<void> | undefined
        await store.transaction(async tx => {
          tries++
          await register.read(tx)
          fenced ??= fence(register)
          await fenced
          await change(register, tx)
        })
        assert.equal(tries, 2)
      })

      it(`${what}, and waits for it where it came before`, async () => {
        const { register, add } = listOf()
        if (count > 0) await add(count)
        const order: string[] = []
        const changed = Promise.withResolvers<void>()
        const first = store.transaction(async tx => {
          await change(register, tx)
          changed.resolve()
          await pause(50)
          order.push('changed')
        })
        await changed.promise
        await Promise.all([first, fence(register).then(() => order.push('fenced'))])
        assert.deepEqual(order, ['changed', 'fenced'])
      })
    }
  })
})
