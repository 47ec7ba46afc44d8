import assert from 'node:assert/strict'
import { after, afterEach, before, describe, it } from 'node:test'
import { createLifecycle, createLogger, createMetrics, pause } from '@rollcall/runtime'
import { connectStore, createLease, migrate, type Store } from '@rollcall/store'
import { dropDatabase } from '@rollcall/testing/drop-database'
import { type ClientSession, type Model, Schema, Types } from 'mongoose'
import { defineJob } from './define-job.ts'
import { startJobs } from './job.ts'
import type { LeaseJob, LeaseJobOptions, LeaseSlice } from './lease-job.ts'

const logger = createLogger({ service: 'test', level: process.env.TEST_LOG_LEVEL ?? 'silent' })

/** Of a replica whose lease does not expire within a test. */
const LEASE_MS = 60_000

type Item = { _id: Types.ObjectId; left: number; steps: string[]; createdAt: Date }
const itemSchema = new Schema<Item>({ left: Number, steps: { type: [String], default: [] }, createdAt: Date })

describe('a job of items under leases', () => {
  let store: Store
  let items: Model<Item>
  const jobs: LeaseJob<Item>[] = []

  before(async () => {
    const dbName = `lease-job-test-${new Types.ObjectId()}`
    store = await connectStore({ url: process.env.MONGODB_URL!, dbName, logger })
    items = store.model('Item', itemSchema)
    await migrate(store, logger)
  })
  afterEach(async () => {
    await Promise.all(jobs.splice(0).map(job => job.stop()))
    await items.deleteMany()
  })
  after(async () => {
    await dropDatabase(store.connection)
    await store.close()
  })

  const isLeft = { left: { $gt: 0 } }
  const define = (run: LeaseJobOptions<Item>['run'], more: Partial<LeaseJobOptions<Item>> = {}): LeaseJob<Item> => {
    const job = defineJob<Item>({
      name: 'items',
      lease: { store, ttlMs: 600 },
      unfinished: () => items.find(isLeft).lean<Item[]>().exec(),
      load: ({ _id }) => items.findOne({ _id, ...isLeft }).lean<Item>(),
      since: ({ createdAt }) => createdAt,
      pollMs: 100,
      backoff: { baseMs: 10, maxMs: 50 },
      run,
      ...more,
    })
    jobs.push(job)
    return job
  }
  const start = (run: LeaseJobOptions<Item>['run'], more: Partial<LeaseJobOptions<Item>> = {}) => {
    const metrics = createMetrics('test')
    const job = define(run, more)
    job.start({ logger, metrics })
    return { job, text: () => metrics.registry.metrics() }
  }
  const add = async (left: number, createdAt = new Date()) => (await items.create({ left, createdAt })).toObject()
  const read = async ({ _id }: Item) => (await items.findOne({ _id }).lean<Item>())!
  const until = async (holds: () => Promise<boolean>) => {
    for (let tries = 0; tries < 500 && !(await holds()); tries++) await pause(20)
    assert.ok(await holds())
  }
  const step = ({ _id }: Item, by: string, session?: ClientSession) =>
    items.updateOne({ _id }, { $inc: { left: -1 }, $push: { steps: by } }, session ? { session } : {})

  it('runs slices until nothing is left, one replica at a time', async () => {
    let atOnce = 0
    const replica = (name: string) => async (item: Item) => {
      assert.equal(++atOnce, 1)
      await step(item, name)
      await pause(5)
      atOnce--
      return 'again' as const
    }
    const item = await add(20)
    const replicas = ['a', 'b', 'c'].map(name => start(replica(name)))
    const signal = new AbortController().signal
    assert.deepEqual(await Promise.all(replicas.map(({ job }) => job.complete(item, signal))), [true, true, true])
    assert.equal((await read(item)).steps.length, 20)
  })

  it('stops waiting when the signal fires, and continues without a caller', async () => {
    const { job } = start(async item => {
      await pause(100)
      await step(item, 'a')
      return 'again'
    })
    const item = await add(5)
    assert.equal(await job.complete(item, AbortSignal.timeout(150)), false)
    await until(async () => (await read(item)).left === 0)
  })

  it('keeps the lease while it waits for a delay, so that no other replica is faster', async () => {
    const ranAt: number[] = []
    const run = async (item: Item) => {
      ranAt.push(Date.now())
      await step(item, 'a')
      return 1000 // longer than the lease lasts without a heartbeat
    }
    await add(2)
    for (let replica = 0; replica < 2; replica++) start(run)
    await until(async () => ranAt.length === 2)
    assert.ok(ranAt[1]! - ranAt[0]! >= 1000)
  })

  it('retries what failed after a growing wait, and measures it all', async () => {
    const ranAt: number[] = []
    const item = await add(1, new Date(Date.now() - 70_000))
    const run = async () => {
      ranAt.push(Date.now())
      if (ranAt.length <= 3) throw new Error('not yet')
      await step(item, 'a')
      return 'done' as const
    }
    const { text } = start(run, { backoff: { baseMs: 100, maxMs: 10_000 }, pollMs: 60_000 })
    await until(async () => ranAt.length === 4)
    const waits = ranAt.slice(1).map((at, index) => at - ranAt[index]!)
    assert.ok(waits[0]! >= 50 && waits[1]! >= 100 && waits[2]! >= 200, waits.join())
    await until(async () => /runs_total{job_name="items",outcome="done",.*} 1\n/.test(await text()))
    assert.match(await text(), /rollcall_job_runs_total{job_name="items",outcome="failed",.*} 3\n/)
    assert.match(await text(), /rollcall_job_run_duration_seconds_count{.*job_name="items".*} 4\n/)
    assert.match(await text(), /rollcall_job_polls_total{job_name="items",outcome="done",.*} 1\n/)
    assert.match(await text(), /rollcall_jobs_unfinished{job_name="items",.*} 1\n/)
    assert.match(await text(), /rollcall_job_oldest_waiting_seconds{job_name="items",.*} 7\d\./)
  })

  it('shows failures and a search that fails from zero', async () => {
    const unfinished = async () => Promise.reject(new Error('away'))
    const { text } = start(async () => 'done', { unfinished, pollMs: 60_000 })
    await until(async () => /polls_total{job_name="items",outcome="failed",.*} 1\n/.test(await text()))
    assert.match(await text(), /rollcall_job_runs_total{job_name="items",outcome="failed",.*} 0\n/)
    assert.match(await text(), /rollcall_job_polls_total{job_name="items",outcome="done",.*} 0\n/)
  })

  it('stops with its service: the slice ends, and another replica resumes the rest at once', async () => {
    const { promise: began, resolve: begin } = Promise.withResolvers<void>()
    let isEnded = false
    const item = await add(2)
    const lifecycle = createLifecycle({ service: 'test', logger })
    const stopped = define(
      async (item, { signal }) => {
        begin()
        await pause(LEASE_MS, signal)
        await pause(100)
        await step(item, 'first')
        isEnded = true
        return 'again'
      },
      { lease: { store, ttlMs: LEASE_MS } },
    )
    startJobs(lifecycle, [stopped])
    await began
    await lifecycle.stop('test')
    assert.ok(isEnded)
    const { job } = start(async item => {
      await step(item, 'second')
      return 'again'
    })
    assert.ok(await job.complete(item, AbortSignal.timeout(LEASE_MS / 2)), 'the lease was not released')
    assert.deepEqual((await read(item)).steps, ['first', 'second'])
  })

  describe('whose lease is lost', () => {
    /** Two replicas of one item: the second takes the lease and works while the first is suspended, and is told so. */
    const overtaken = async (write: (item: Item, slice: LeaseSlice, by: string) => Promise<unknown>) => {
      const item = await add(2)
      const { promise: began, resolve: begin } = Promise.withResolvers<AbortSignal>()
      const { promise: released, resolve: release } = Promise.withResolvers<void>()
      const { job, text } = start(
        async (item, slice) => {
          begin(slice.signal)
          await released
          await write(item, slice, 'late')
          return 'again'
        },
        { pollMs: 60_000 },
      )
      const signal = await began
      // As if the first replica had been suspended for longer than its lease.
      await store.connection.collection('leases').updateMany({}, { $set: { until: new Date(0) } })
      const other = createLease(store, `items ${item._id}`, 'another replica', 60_000)
      assert.ok(await other.acquire())
      await write(item, { signal: new AbortController().signal, fence: other.fence }, 'second')
      await until(async () => signal.aborted).finally(release) // by a heartbeat of the first replica
      await job.stop()
      await other.release()
      return { steps: (await read(item)).steps, text: await text() }
    }
    const fenced = (item: Item, slice: LeaseSlice, by: string) =>
      store.transaction(async session => {
        await slice.fence(session)
        await step(item, by, session)
      })
    const naive = (item: Item, _slice: LeaseSlice, by: string) =>
      store.transaction(async session => void (await step(item, by, session)))

    it('is aborted, and writes nothing', async () => {
      const { steps, text } = await overtaken(fenced)
      assert.deepEqual(steps, ['second'])
      assert.match(text, /rollcall_job_runs_total{job_name="items",outcome="interrupted",.*} 1\n/)
      assert.match(text, /rollcall_job_runs_total{job_name="items",outcome="failed",.*} 0\n/)
    })

    it('writes twice without the fence', async () => {
      assert.deepEqual((await overtaken(naive)).steps, ['second', 'late'])
    })

    it('commits nothing of a transaction that the takeover overlaps', async () => {
      const item = await add(1)
      const lease = createLease(store, `items ${item._id}`, 'first', 60_000)
      assert.ok(await lease.acquire())
      let attempts = 0
      const late = store.transaction(async session => {
        if (++attempts === 1) await items.findOne({ _id: item._id }).session(session) // the snapshot begins
        if (attempts === 1) {
          await store.connection.collection('leases').updateMany({}, { $set: { until: new Date(0) } })
          assert.ok(await createLease(store, `items ${item._id}`, 'second', 60_000).acquire())
        }
        await lease.fence(session)
        await step(item, 'late', session)
      })
      await assert.rejects(late, { name: 'LeaseLost' })
      assert.deepEqual((await read(item)).steps, [])
    })
  })
})
