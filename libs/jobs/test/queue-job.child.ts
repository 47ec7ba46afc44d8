import { createLogger, createMetrics } from '@rollcall/runtime'
import { queueJob } from '../src/queue-job.ts'

/** A worker that `queue-job.test.ts` runs in its own process: it prints the id of its job and never ends it. */
const [prefix = ''] = process.argv.slice(2)
const job = queueJob({
  name: 'work',
  queue: { url: process.env.REDIS_QUEUE_URL ?? '', prefix },
  unfinished: async () => [],
  run: async id => {
    process.stdout.write(`${id}\n`)
    return await new Promise(() => undefined)
  },
})
job.start({ logger: createLogger({ service: 'child', level: 'silent' }), metrics: createMetrics('child') })
