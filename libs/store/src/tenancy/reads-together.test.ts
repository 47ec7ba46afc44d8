import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { AppError } from '@rollcall/contract'
import { pause } from '@rollcall/runtime'
import { type Model, Types } from 'mongoose'
import { draft, newOrganization, type Person, people, recordingStore } from '../../test/store.ts'
import { positions } from '../positions/positions.ts'
import { scoped } from './scope.ts'

describe('reads of the same turn', () => {
  let recorded: Awaited<ReturnType<typeof recordingStore>>
  let model: Model<Person>
  before(async () => {
    recorded = await recordingStore()
    model = await people(recorded.store)
  })
  after(() => recorded.drop())

  const reads = () => recorded.sent('find', 'people')
  const isMissing = (error: unknown) => error instanceof AppError && error.code === 'contact.not_found'
  const made = async (count: number, organization = newOrganization()) => {
    const scope = scoped(model, organization)
    const records = await scope.insertMany(Array.from({ length: count }, (_, index) => draft(index, { age: 0 })))
    return { scope, records, ids: records.map(({ _id }) => String(_id)) }
  }

  it('share one command, with the organization first, and get what a read alone gets', async () => {
    const { scope, ids } = await made(50)
    const already = reads().length
    const found = await Promise.all(ids.map(id => scope.get(id, 'contact')))
    const [command, ...others] = reads().slice(already)
    assert.deepEqual([Object.keys((command as { filter: object }).filter)[0], others.length], ['organization', 0])
    assert.deepEqual(found, await Promise.all(ids.map(_id => scope.findOne({ _id }))))
  })

  it('get records of their own, even of one id', async () => {
    const { scope, ids } = await made(1)
    const [one, other] = await Promise.all([scope.get(ids[0]!, 'contact'), scope.get(ids[0]!, 'contact')])
    one.tags.push('changed by its reader')
    assert.deepEqual(other.tags, [])
  })

  it('share the register of a list, as it is when they begin', async () => {
    const { store } = recorded
    const organization = newOrganization()
    const list = positions(store, organization, 'people')
    const already = recorded.sent('find', 'positions').length
    const before = [list.read(), positions(store, organization, 'people').read()]
    const another = positions(store, newOrganization(), 'people').read()
    assert.deepEqual(
      (await Promise.all([...before, another])).map(({ total }) => total),
      [0, 0, 0],
    )
    assert.equal(recorded.sent('find', 'positions').length - already, 2)
    await store.transaction(tx => list.take(tx, 3))
    assert.equal((await list.read()).total, 3)
  })

  it('never get a record of another organization', async () => {
    const [mine, theirs] = [await made(2), await made(2)]
    const crossed = [...theirs.ids.map(id => mine.scope.get(id, 'contact')), mine.scope.get(mine.ids[0]!, 'contact')]
    const [first, second, own] = await Promise.allSettled(crossed)
    for (const refused of [first, second]) assert.ok(refused?.status === 'rejected' && isMissing(refused.reason))
    assert.equal(own?.status, 'fulfilled')
  })

  it('are several commands where they are many, and none where the id is malformed', async () => {
    const { scope, ids } = await made(450)
    const already = reads().length
    const unknown = scope.get(String(new Types.ObjectId()), 'contact')
    await Promise.all([assert.rejects(unknown, isMissing), ...ids.map(id => scope.get(id, 'contact'))])
    assert.equal(reads().length - already, 3)
    await assert.rejects(scope.get('x', 'contact'), /invalid field -> id/)
    assert.equal(reads().length - already, 3)
  })

  it('see every change that was acknowledged before they were asked for', async () => {
    const { scope, ids } = await made(5)
    const acknowledged = new Map(ids.map(id => [id, 0]))
    let isOver = false
    const write = async (id: string) => {
      while (!isOver) {
        await scope.updateOne({ _id: id }, { $inc: { age: 1 } })
        acknowledged.set(id, acknowledged.get(id)! + 1)
      }
    }
    const read = async () => {
      for (let time = 0; time < 100; time++) {
        const id = ids[Math.floor(Math.random() * ids.length)]!
        const atLeast = acknowledged.get(id)!
        const { age } = await scope.get(id, 'contact')
        assert.ok(age! >= atLeast, `${age} instead of at least ${atLeast}`)
        if (Math.random() < 0.3) await pause(1)
      }
    }
    const writers = ids.map(write)
    await Promise.all(Array.from({ length: 10 }, read)).finally(() => {
      isOver = true
    })
    await Promise.all(writers)
  })

  it('all fail where their command fails, and the next ones do not', async t => {
    const { scope, ids } = await made(3)
    const find = t.mock.method(model.collection, 'find', () => ({ toArray: () => Promise.reject(new Error('no')) }))
    const failed = await Promise.allSettled(ids.map(id => scope.get(id, 'contact')))
    find.mock.restore()
    assert.deepEqual(
      failed.map(({ status }) => status),
      ['rejected', 'rejected', 'rejected'],
    )
    assert.equal(String((await scope.get(ids[0]!, 'contact'))._id), ids[0])
  })
})
