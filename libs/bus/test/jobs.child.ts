import { createLogger } from '@rollcall/runtime'
import { startWorker } from '../src/jobs.ts'

/** A worker run by `jobs.test.ts` in a process of its own: it prints the job it is given and never ends it. */
const [prefix = ''] = process.argv.slice(2)
startWorker({
  url: process.env.REDIS_QUEUE_URL ?? '',
  name: 'work',
  prefix,
  logger: createLogger({ service: 'child', level: 'silent' }),
  sweep: async () => [],
  handle: async id => {
    process.stdout.write(`${id}\n`)
    return await new Promise(() => undefined)
  },
})
