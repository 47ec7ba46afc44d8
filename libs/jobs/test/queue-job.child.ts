import { createLogger, createMetrics } from '@rollcall/runtime'
import { queueJob } from '../src/queue-job.ts'

/** A worker run by `queue-job.test.ts` in a process of its own: it prints the job it is given and never ends it. */
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
