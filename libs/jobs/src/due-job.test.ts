import assert from 'node:assert/strict'
import { after, afterEach, before, describe, it } from 'node:test'
import { createLogger, createMetrics, type Metrics, pause } from '@rollcall/runtime'
import { connectStore, migrate, type Store } from '@rollcall/store'
import { dropDatabase } from '@rollcall/testing/drop-database'
import { type Model, Schema, Types } from 'mongoose'
import { type DueJob, type DueJobOptions, type DueRecord, dueJob } from './due-job.ts'

const logger = createLogger({ service: 'test', level: process.env.TEST_LOG_LEVEL ?? 'silent' })

type Task = DueRecord & { effects: string[] }
const taskSchema = new Schema<Task>({
  organization: { type: Schema.Types.ObjectId, required: true },
  dueAt: { type: Date, default: null },
  attempts: { type: Number, default: 0 },
  effects: { type: [String], default: [] },
})
taskSchema.index({ dueAt: 1 })

describe('a job of records that are due', () => {
  let store: Store
  let tasks: Model<Task>
  const jobs: DueJob[] = []
  type More = Partial<DueJobOptions<Task>> & { metrics?: Metrics }
  const start = (run: DueJobOptions<Task>['run'], { metrics = createMetrics('test'), ...more }: More = {}) => {
    const limits = { concurrency: 20, concurrencyPerOrganization: 5 }
    const job = dueJob<Task>({ name: 'tasks', due: { model: tasks }, run, ...limits, ...more })
    job.start({ logger, metrics })
    jobs.push(job)
    return job
  }

  before(async () => {
    const dbName = `due-job-test-${new Types.ObjectId()}`
    store = await connectStore({ url: process.env.MONGODB_URL!, dbName, logger })
    tasks = store.model('Task', taskSchema)
    await migrate(store, logger)
  })
  afterEach(async () => {
    await Promise.all(jobs.splice(0).map(job => job.stop()))
    await tasks.deleteMany()
  })
  after(async () => {
    await dropDatabase(store.connection)
    await store.close()
  })

  const add = async (organization: Types.ObjectId, count: number, dueAt = new Date()) => {
    await tasks.insertMany(Array.from({ length: count }, () => ({ organization, dueAt })))
  }
  const until = async (holds: () => boolean | Promise<boolean>) => {
    for (let tries = 0; tries < 1000 && !(await holds()); tries++) await pause(20)
    assert.ok(await holds())
  }
  const end = ({ _id }: Task) => tasks.updateOne({ _id }, { $set: { dueAt: null } })

  it('runs each record once, however many replicas there are', async () => {
    const ran: string[] = []
    const run = async (task: Task) => {
      ran.push(String(task._id))
      await end(task)
      return 'done' as const
    }
    await add(new Types.ObjectId(), 30)
    for (let replica = 0; replica < 3; replica++) start(run)
    await until(() => ran.length >= 30)
    await pause(500)
    assert.deepEqual([ran.length, new Set(ran).size], [30, 30])
  })

  it('leaves those alone that are not due, or that another worker has', async () => {
    const ran: Task[] = []
    await add(new Types.ObjectId(), 1, new Date(Date.now() + 60_000))
    start(async task => {
      ran.push(task)
      return 'done'
    })
    await pause(1500)
    assert.equal(ran.length, 0)
  })

  it('runs and counts the records of its filter alone', async () => {
    const [mine, others] = [new Types.ObjectId(), new Types.ObjectId()]
    await add(others, 3)
    await add(mine, 2)
    const ran: Task[] = []
    const metrics = createMetrics('test')
    const { promise: opened, resolve: open } = Promise.withResolvers<void>()
    const run = async (task: Task) => {
      ran.push(task)
      await opened
      await end(task)
      return 'done' as const
    }
    start(run, { metrics, due: { model: tasks, filter: { organization: mine } } })
    let text = ''
    await until(async () => {
      text = await metrics.registry.metrics()
      return ran.length === 2 && /rollcall_jobs_unfinished{job_name="tasks",.*} \d/.test(text)
    })
    open()
    await pause(1500)
    assert.match(text, /rollcall_jobs_unfinished{job_name="tasks",.*} 2\n/)
    assert.ok(ran.length === 2 && ran.every(({ organization }) => organization.equals(mine)))
  })

  it('does not let one organization’s slow tasks delay the others', async () => {
    const [slow, quick] = [new Types.ObjectId(), new Types.ObjectId()]
    const { promise: opened, resolve: open } = Promise.withResolvers<void>()
    let done = 0
    let hanging = 0
    await add(slow, 60)
    await pause(5)
    await add(quick, 10)
    start(async task => {
      if (task.organization.equals(slow)) {
        hanging += 1
        await opened
      } else done += 1
      await end(task)
      return 'done'
    })
    await until(() => done === 10)
    assert.ok(hanging < 20, `${hanging} of the slow ones at once`)
    open()
    await until(() => hanging === 60)
  })

  it('does not let several organizations’ slow tasks take all slots', async () => {
    const slow = Array.from({ length: 4 }, () => new Types.ObjectId())
    const quick = new Types.ObjectId()
    const { promise: opened, resolve: open } = Promise.withResolvers<void>()
    let hanging = 0
    let done = 0
    for (const organization of slow) await add(organization, 10)
    const job = start(async task => {
      if (task.organization.equals(quick)) done += 1
      else {
        hanging += 1
        await opened
      }
      await end(task)
      return 'done'
    })
    await until(() => hanging >= 16)
    await add(quick, 10)
    job.wake()
    try {
      await until(() => done === 10)
    } finally {
      open()
    }
    await until(() => hanging === 40)
  })

  it('keeps to the limit of each value of a field, and runs others meanwhile', async () => {
    const limited = new Types.ObjectId()
    const { promise: opened, resolve: open } = Promise.withResolvers<void>()
    let hanging = 0
    let done = 0
    await add(limited, 20)
    await pause(5)
    await add(new Types.ObjectId(), 5)
    const limitOf = (value: string) => (value === String(limited) ? 2 : 5)
    start(
      async task => {
        if (task.organization.equals(limited)) {
          hanging += 1
          await opened
        } else done += 1
        await end(task)
        return 'done'
      },
      { concurrencyPerOrganization: 10, concurrencyPer: { field: 'organization', limitOf } },
    )
    await until(() => done === 5)
    assert.equal(hanging, 2)
    open()
    await until(() => hanging === 20)
  })

  it('does not count records as late whose value of a field holds them up', async () => {
    const [failing, late] = [new Types.ObjectId(), new Types.ObjectId()]
    await add(failing, 2, new Date(Date.now() - 3_600_000))
    await add(late, 2, new Date(Date.now() - 600_000))
    const { promise: opened, resolve: open } = Promise.withResolvers<void>()
    const metrics = createMetrics('test')
    const run = async (task: Task) => {
      await opened
      await end(task)
      return 'done' as const
    }
    start(run, { metrics, concurrencyPer: { field: 'organization', limitOf: () => 1, held: () => [String(failing)] } })
    let text = ''
    await until(async () => {
      text = await metrics.registry.metrics()
      return /rollcall_jobs_unfinished{job_name="tasks",.*} [1-4]/.test(text)
    })
    open()
    assert.match(text, /rollcall_job_oldest_waiting_seconds{job_name="tasks",.*} 6\d\d\./)
  })

  it('does not search again for each record that a limit keeps back', async t => {
    const search = t.mock.method(tasks, 'find')
    const count = 100
    let ran = 0
    await add(new Types.ObjectId(), count)
    const run = async (task: Task) => {
      ran++
      await end(task)
      return 'done' as const
    }
    start(run, { concurrencyPerOrganization: 1 })
    await until(() => ran === count)
    assert.ok(search.mock.callCount() < count / 2, `${search.mock.callCount()} searches`)
  })

  it('runs a record that waited as it is by then, and not one that was put off', async () => {
    const { promise: opened, resolve: open } = Promise.withResolvers<void>()
    const seen: string[][] = []
    await add(new Types.ObjectId(), 3)
    const run = async ({ effects }: Task) => {
      seen.push(effects)
      await opened
      return 60_000
    }
    start(run, { concurrencyPerOrganization: 1 })
    await until(() => seen.length === 1)
    const [second, third] = await tasks.find({ attempts: 0 }).sort({ dueAt: 1, _id: 1 }).lean<Task[]>()
    await tasks.updateOne({ _id: second!._id }, { $set: { effects: ['changed'] } })
    await tasks.updateOne({ _id: third!._id }, { $set: { dueAt: new Date(Date.now() + 60_000) } })
    open()
    await until(() => seen.length === 2)
    assert.deepEqual(seen, [[], ['changed']])
    await jobs.pop()!.stop()
    assert.equal(seen.length, 2)
  })

  it('finishes running work before it stops', async () => {
    let isDone = false
    const { promise: began, resolve: begin } = Promise.withResolvers<void>()
    await add(new Types.ObjectId(), 1)
    const job = start(async task => {
      begin()
      await pause(300)
      await end(task)
      isDone = true
      return 'done'
    })
    await began
    await job.stop()
    assert.ok(isDone)
  })

  it('leaves a slice that ends early at a stop to another replica, at once', async () => {
    const { promise: began, resolve: begin } = Promise.withResolvers<void>()
    await add(new Types.ObjectId(), 1)
    const job = start(async (_task, { signal }) => {
      begin()
      await pause(60_000, signal)
      throw signal.reason
    })
    await began
    await job.stop()
    let isResumed = false
    start(async task => {
      isResumed = true
      await end(task)
      return 'done'
    })
    await until(() => isResumed)
  })

  it('runs a record again after the delay that the run asks for', async () => {
    const ranAt: number[] = []
    await add(new Types.ObjectId(), 1)
    start(async task => {
      ranAt.push(Date.now())
      if (ranAt.length === 1) return 700
      await end(task)
      return 'done'
    })
    await until(() => ranAt.length === 2)
    assert.ok(ranAt[1]! - ranAt[0]! >= 700)
  })

  it('retries what failed after a growing wait, and counts it', async () => {
    const metrics = createMetrics('test')
    const ranAt: number[] = []
    const organization = new Types.ObjectId()
    await add(organization, 1, new Date(Date.now() - 50_000))
    const run = async (task: Task) => {
      ranAt.push(Date.now())
      if (ranAt.length <= 2) throw new Error('not yet')
      await end(task)
      return 'done' as const
    }
    start(run, { metrics, backoff: { baseMs: 800, maxMs: 10_000 } })
    await until(() => ranAt.length === 3)
    const [first = 0, second = 0, third = 0] = ranAt
    assert.ok(second - first >= 400 && third - second >= 800, ranAt.join())
    await jobs.pop()!.stop()
    const text = await metrics.registry.metrics()
    assert.match(text, /rollcall_job_runs_total{job_name="tasks",outcome="failed",.*} 2\n/)
    assert.match(text, /rollcall_job_runs_total{job_name="tasks",outcome="done",.*} 1\n/)
    assert.match(text, /rollcall_job_run_duration_seconds_count{.*job_name="tasks".*} 3\n/)
    assert.match(text, /rollcall_jobs_unfinished{job_name="tasks",.*} 1\n/)
    assert.match(text, /rollcall_job_oldest_waiting_seconds{job_name="tasks",.*} 5\d\./)
  })

  describe('where another replica has claimed the record meanwhile', () => {
    /** Two workers of one record: the first is suspended until the second has claimed and finished it. */
    const overtaken = async (write: (task: Task, by: string) => Promise<unknown>) => {
      await add(new Types.ObjectId(), 1)
      const { promise: claimed, resolve: claim } = Promise.withResolvers<Task>()
      const { promise: released, resolve: release } = Promise.withResolvers<void>()
      const late = start(async task => {
        claim(task)
        await released
        await write(task, 'late')
        return 60_000
      })
      const { _id } = await claimed
      await tasks.updateOne({ _id }, { $set: { dueAt: new Date() } }) // as if the claim had expired
      let isDone = false
      start(async task => {
        await write(task, 'second')
        isDone = true
        return 60_000
      })
      await until(() => isDone)
      release()
      await late.stop()
      return (await tasks.findOne({ _id }).lean<Task>())!
    }

    it('writes nothing that is filtered by the fence', async () => {
      const { effects, attempts } = await overtaken(({ _id, attempts }, by) =>
        tasks.updateOne({ _id, attempts }, { $push: { effects: by } }),
      )
      assert.deepEqual([effects, attempts], [['second'], 2])
    })

    it('writes twice without the fence', async () => {
      const { effects } = await overtaken(({ _id }, by) => tasks.updateOne({ _id }, { $push: { effects: by } }))
      assert.deepEqual(effects, ['second', 'late'])
    })
  })
})
