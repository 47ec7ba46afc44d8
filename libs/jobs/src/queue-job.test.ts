import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createLogger, createMetrics, type Metrics, pause, retry } from '@rollcall/runtime'
import { scaledTimeout } from '@rollcall/testing/scaled-timeout'
import type { Job } from './job.ts'
import { createJobQueue, type JobQueue, type QueueJobOptions, queueJob } from './queue-job.ts'
import { createRedis } from './redis.ts'

const url = process.env.REDIS_QUEUE_URL ?? ''
const FAMILY = `test-${randomUUID().slice(0, 8)}`
const logger = createLogger({ service: 'test', level: process.env.TEST_LOG_LEVEL ?? 'silent' })
const redis = createRedis({ url, role: 'queue', logger })
const opened: (() => Promise<void>)[] = []

after(async () => {
  for (const close of opened.reverse()) await close()
  await deleteKeys(FAMILY)
  redis.disconnect()
})

const deleteKeys = async (prefix: string): Promise<void> => {
  const keys = await redis.keys(`{${prefix}*`)
  if (keys.length > 0) await redis.del(keys)
}

type Run = (id: string, signal: AbortSignal) => ReturnType<QueueJobOptions['run']>
type More = Partial<QueueJobOptions> & { metrics?: Metrics }
const waiting = (ids: Iterable<string>) => [...ids].map(id => ({ id, since: new Date() }))

/** A queue and workers with their own prefix. */
const openJobs = (run: Run, { metrics = createMetrics('test'), ...more }: More = {}) => {
  const queueOptions = { url, prefix: `${FAMILY}-${randomUUID()}` }
  const queue = createJobQueue('work', queueOptions, logger)
  opened.push(queue.close)
  const work = (other = run): Job => {
    const job = queueJob({
      name: 'work',
      queue: queueOptions,
      run: (id, { signal }) => other(id, signal),
      unfinished: async () => [],
      backoff: { baseMs: 10, maxMs: 30_000 },
      ...more,
    })
    job.start({ logger, metrics })
    opened.push(job.stop)
    return job
  }
  return { queue, work, prefix: queueOptions.prefix }
}

const eventually = (check: () => void | Promise<void>, timeoutMs = 15_000): Promise<void> =>
  retry(async () => check(), { deadline: Date.now() + scaledTimeout(timeoutMs), baseMs: 10, maxMs: 50 })

const enqueueAll = async (queue: JobQueue, ids: string[]): Promise<void> => {
  for (const id of ids) await queue.enqueue(id)
}

test('a job runs once for any number of requests, and can be requested again when it is done', async () => {
  const ran: string[] = []
  const { queue, work } = openJobs(async id => {
    ran.push(id)
    return 'done'
  })
  await Promise.all([queue.enqueue('a'), queue.enqueue('a'), queue.enqueue('b')])
  await queue.enqueue('a')
  work()
  await eventually(() => assert.deepEqual(ran.toSorted(), ['a', 'b']))
  await eventually(async () => {
    await queue.enqueue('a') // does nothing until the queue has stored the end of the last run
    assert.deepEqual(new Set(ran.slice(2)), new Set(['a']))
  })
})

test('a delayed job waits, a cancelled one is not run, an unusable id is refused', async () => {
  const ran: [string, number][] = []
  const { queue, work } = openJobs(async id => {
    ran.push([id, Date.now()])
    return 'done'
  })
  const dueAt = Date.now() + 400
  await queue.enqueue('late', { delayMs: 400 })
  await enqueueAll(queue, ['kept', 'cancelled'])
  await queue.cancel('cancelled')
  await queue.cancel('never-queued')
  work()
  await eventually(() =>
    assert.deepEqual(
      ran.map(([id]) => id),
      ['kept', 'late'],
    ),
  )
  assert.ok(Number(ran[1]?.[1]) >= dueAt)
  for (const id of ['', '12', 'a:b', 'a b']) await assert.rejects(queue.enqueue(id), TypeError)
})

test('a failing job is tried again, and the others do not wait for it', async () => {
  const metrics = createMetrics('test')
  const ran: string[] = []
  const { queue, work } = openJobs(
    async id => {
      ran.push(id)
      if (id === 'failing' && ran.filter(each => each === id).length < 4) throw new Error('not yet')
      return 'done'
    },
    { concurrency: 1, metrics },
  )
  await enqueueAll(queue, ['failing', 'other'])
  work()
  await eventually(async () => {
    const text = await metrics.registry.metrics()
    assert.match(text, /job_runs_total{job_name="work",outcome="failed",.*} 3\n/)
    assert.match(text, /job_runs_total{job_name="work",outcome="done",.*} 2\n/)
  })
  assert.deepEqual(ran.slice(0, 2), ['failing', 'other'])
})

test('slices alternate: an organization with much work does not delay the others', async () => {
  const left = new Map([
    ['organization-big', 20],
    ['organization-small', 2],
    ['organization-late', 1],
  ])
  const slices: string[] = []
  const { queue, work } = openJobs(
    async id => {
      slices.push(id)
      if (slices.length === 5) await queue.enqueue('organization-late')
      const rest = Number(left.get(id)) - 1
      left.set(id, rest)
      return rest > 0 ? 'again' : 'done'
    },
    { concurrency: 1 },
  )
  await enqueueAll(queue, ['organization-big', 'organization-small'])
  work()
  await eventually(() => assert.equal(slices.length, 23))
  const short = slices.map(id => id.slice('organization-'.length))
  assert.deepEqual(short.slice(0, 4), ['big', 'small', 'big', 'small'])
  assert.ok(short.indexOf('late') <= 7, short.join())
})

test('what Redis lost is queued again by the poll', async () => {
  const due = new Set(['job-1', 'job-2'])
  const { queue, work, prefix } = openJobs(
    async id => {
      due.delete(id)
      return 'done'
    },
    { unfinished: async () => waiting(due), pollMs: 100 },
  )
  await enqueueAll(queue, [...due])
  await deleteKeys(prefix)
  work()
  await eventually(() => assert.equal(due.size, 0))
})

test('the job of a worker that is killed goes to another within seconds, time and again', async () => {
  const ran: string[] = []
  const { queue, work, prefix } = openJobs(async id => {
    ran.push(id)
    return 'done'
  })
  await queue.enqueue('survivor')
  for (let kills = 0; kills < 2; kills++) {
    const child = startChild(prefix)
    await once(child.stdout as NodeJS.ReadableStream, 'data')
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  const killedAt = Date.now()
  work()
  await eventually(() => assert.deepEqual(ran, ['survivor']))
  const tookMs = Date.now() - killedAt
  assert.ok(tookMs < scaledTimeout(8000), `${tookMs} ms`)
  console.log(`# taken over after ${tookMs} ms`)
})

test('a worker that stops aborts its job, and another continues it at once', async () => {
  const interrupted: string[] = []
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
  const { queue, work } = openJobs(async (id, signal) => {
    begin()
    await pause(60_000, signal)
    interrupted.push(id)
    throw new Error('stopped in the middle')
  })
  await queue.enqueue('moved')
  const first = work()
  await begun
  const ran: string[] = []
  work(async id => {
    ran.push(id)
    return 'done'
  })
  const stoppedAt = Date.now()
  await first.stop()
  await eventually(() => assert.deepEqual(ran, ['moved']))
  assert.deepEqual(interrupted, ['moved'])
  assert.ok(Date.now() - stoppedAt < 1500)
})

test('a worker whose job Redis lost is interrupted, and never runs the same job twice at once', async () => {
  let atOnce = 0
  let runs = 0
  const { queue, work, prefix } = openJobs(
    async (_id, signal) => {
      runs++
      assert.equal(++atOnce, 1)
      if (runs === 1) await pause(60_000, signal)
      await pause(20)
      atOnce--
      return 'done'
    },
    { unfinished: async () => (runs < 2 ? waiting(['forgotten']) : []), pollMs: 50 },
  )
  await queue.enqueue('forgotten')
  work()
  await eventually(() => assert.equal(runs, 1))
  await deleteKeys(prefix)
  await eventually(() => assert.equal(runs, 2))
  assert.ok(atOnce <= 1)
})

test('without Redis a job can still be requested, and a worker still stops', async () => {
  const nowhere = { url: 'redis://127.0.0.1:9', prefix: 'none' }
  const metrics = createMetrics('test')
  const queue = createJobQueue('work', nowhere, logger)
  const unfinished = async () => waiting(['a'])
  const worker = queueJob({ name: 'work', queue: nowhere, run: async () => 'done', unfinished })
  worker.start({ logger, metrics })
  const startedAt = Date.now()
  await queue.enqueue('a')
  await queue.cancel('a')
  await eventually(async () => {
    const text = await metrics.registry.metrics()
    assert.match(text, /jobs_unfinished{job_name="work",.*} 1\n/)
    assert.match(text, /job_polls_total{job_name="work",outcome="failed",.*} 1\n/)
  })
  await Promise.all([queue.close(), worker.stop()])
  assert.ok(Date.now() - startedAt < scaledTimeout(10_000), `${Date.now() - startedAt} ms`)
})

test('a connection for requests fails fast while Redis is away', async () => {
  const away = createRedis({ url: 'redis://127.0.0.1:9', role: 'request', logger })
  const startedAt = Date.now()
  await assert.rejects(away.get('key'))
  assert.ok(Date.now() - startedAt < 700)
  away.disconnect()

  const there = createRedis({ url, role: 'request', logger })
  await once(there, 'ready')
  assert.equal(await there.get(`${FAMILY}-nothing`), null)
  there.disconnect()
})

function startChild(prefix: string): ChildProcess {
  const child = spawn(
    process.execPath,
    [fileURLToPath(new URL('../test/queue-job.child.ts', import.meta.url)), prefix],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  opened.push(async () => void child.kill('SIGKILL'))
  return child
}
