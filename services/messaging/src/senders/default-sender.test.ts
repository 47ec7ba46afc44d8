import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Caller, serviceCaller } from '@rollcall/rpc'
import { createLogger } from '@rollcall/runtime'
import { connectStore, isDuplicate, migrate, type Scope, type Store } from '@rollcall/store'
import { dropDatabase } from '@rollcall/testing/drop-database'
import { Types } from 'mongoose'
import { collections } from '../collections.ts'
import { setDefaultSender } from './change-sender.ts'
import type { Sender } from './sender.model.ts'

const logger = createLogger({ service: 'messaging', level: 'silent' })

describe('the default sender of an organization', () => {
  const dbName = `default-sender-test-${new Types.ObjectId()}`
  const user = new Types.ObjectId()
  const stores: Store[] = []
  let caller: Caller
  let senders: Scope<Sender>

  before(async () => {
    for (let replica = 0; replica < 2; replica++) {
      stores.push(await connectStore({ url: process.env.MONGODB_URL!, dbName, logger }))
    }
    senders = collections(stores[0]!).of(new Types.ObjectId()).senders
    await migrate(stores[0]!, logger)
    caller = { ...serviceCaller('test', String(senders.organization)), kind: 'session', userId: String(user) }
  })
  after(async () => {
    await dropDatabase(stores[0]!.connection)
    await Promise.all(stores.map(store => store.close()))
  })

  /** A replica of the service, as far as the default goes. */
  const replica = (store: Store) => ({ store, collections: collections(store), findUsers: async () => [] })
  const add = (number: number, more: object = {}) => {
    const email = `sender-${number}@example.com`
    const sender = { name: 'N', email, emailKey: email, domain: 'example.com', delivery: 'hosted' as const }
    return senders.insertOne({ ...sender, owner: user, creator: user, ...more })
  }

  it('is one, also when replicas set several concurrently', async () => {
    const made = await Promise.all(Array.from({ length: 6 }, (_, number) => add(number)))
    const calls = stores.flatMap(store => made.map(({ _id }) => setDefaultSender(replica(store), String(_id), caller)))
    await Promise.all(calls)
    assert.equal(await senders.count({ isDefault: true }), 1)
    assert.equal(await senders.count(), 6)
  })

  it('is one by an index of the database', async () => {
    await senders.deleteMany({})
    await add(1, { isDefault: true })
    await assert.rejects(add(2, { isDefault: true }), isDuplicate)
    await add(3)
  })
})
