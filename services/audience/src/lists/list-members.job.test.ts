import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { serviceCaller } from '@rollcall/rpc'
import { createLogger, createMetrics } from '@rollcall/runtime'
import { connectStore, toStoreError } from '@rollcall/store'
import { mongo, Types } from 'mongoose'
import { jsonOf, startTestAudience, type TestAudience, testCaller } from '../../test/audience.ts'
import { type Collections, collections, type Tenant } from '../collections.ts'
import type { Data } from '../context.ts'
import { type ListJobRequest, type ListMembersJob, listMembersJob } from './list-members.job.ts'

const logger = createLogger({ service: 'audience', level: 'silent' })
const me = testCaller()
const { organizationId } = me.caller

describe('a job on the members of a list whose steps fail', () => {
  let audience: TestAudience
  let data: Data
  let close: () => Promise<void>
  before(async () => {
    audience = await startTestAudience()
    const store = await connectStore({ url: process.env.MONGODB_URL!, dbName: audience.db.databaseName, logger })
    data = { store, collections: collections(store), logger }
    close = store.close
  })
  after(async () => {
    await close()
    await audience.stop()
  })

  /** A job whose reads of contacts fail. */
  const failing = (failure: () => Error): { job: ListMembersJob; tries: () => number } => {
    let tries = 0
    const aggregate = async () => {
      tries++
      throw toStoreError(failure())
    }
    const of: Collections['of'] = (...given) =>
      new Proxy(data.collections.of(...given), {
        get: (tenant, name: keyof Tenant) => (name === 'contacts' ? { ...tenant.contacts, aggregate } : tenant[name]),
      })
    const job = listMembersJob({ ...data, collections: { ...data.collections, of } }, { maxFailures: 3 })
    return { job, tries: () => tries }
  }
  const run = async ({ job }: { job: ListMembersJob }) => {
    const lists = audience.client('rollcall.audience.v1.Lists')
    const name = String(new Types.ObjectId())
    const { id } = await jsonOf<{ id: string }>(lists.createList({ name, tags: [] }, me))
    const request: ListJobRequest = {
      kind: 'add',
      list: { _id: new Types.ObjectId(id), name },
      filter: '{"name":{"$regex":"x.*y"}}',
      actor: { kind: 'system', id: null, name: serviceCaller('test').userName },
      cursor: 10,
    }
    job.start({ logger, metrics: createMetrics('test') })
    return job.run(organizationId, request, new AbortController().signal).finally(() => job.stop())
  }
  const jobsLeft = () =>
    audience.db.collection('list_jobs').countDocuments({ organization: new Types.ObjectId(organizationId) })

  it('is refused for its filter where the database gives up looking', async () => {
    const work = failing(() => new mongo.MongoServerError({ code: 50, message: 'operation exceeded time limit' }))
    await assert.rejects(run(work), {
      code: 'request.invalid_field',
      message: 'invalid field -> filter: takes too long',
    })
    assert.deepEqual([work.tries(), await jobsLeft()], [3, 0])
  })

  it('is refused for whatever else goes wrong each time', async () => {
    const work = failing(() => new Error('not foreseen'))
    await assert.rejects(run(work), { code: 'service.unavailable' })
    assert.deepEqual([work.tries(), await jobsLeft()], [3, 0])
  })
})
