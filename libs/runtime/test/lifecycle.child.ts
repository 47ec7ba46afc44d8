import { z } from 'zod'
import { baseConfig, loadConfig } from '../src/config.ts'
import { type Lifecycle, runService, runTask } from '../src/lifecycle.ts'
import { pause } from '../src/time.ts'
import { traced } from '../src/tracing.ts'

/**
 * An empty service that `lifecycle.test.ts` runs in its own process; `BEHAVIOUR` selects how it fails.
 * With the argument `task` it runs as a task instead.
 */
const schema = z.object({
  ...baseConfig,
  BEHAVIOUR: z.enum([
    'good',
    'hanging-stop',
    'failing-stop',
    'failing-start',
    'hanging-start',
    'throwing',
    'rejecting',
  ]),
})

const forever = () => new Promise<never>(() => undefined)
const fail = async (what: string) => {
  throw new Error(what)
}

async function start({ BEHAVIOUR }: z.infer<typeof schema>, { onStop, logger, shutdown }: Lifecycle) {
  shutdown.addEventListener('abort', () => logger.info('shutdown'))
  onStop('store', () => pause(10))
  await traced('start', { kind: 'client' }, () => pause(1))
  if (BEHAVIOUR === 'failing-start') await fail('no store')
  if (BEHAVIOUR === 'hanging-start') await forever()
  if (BEHAVIOUR === 'hanging-stop') onStop('stubborn', forever)
  if (BEHAVIOUR === 'failing-stop') onStop('clumsy', () => fail('cannot close'))
  if (BEHAVIOUR === 'throwing') setTimeout(() => void fail('late').catch(crashNow), 10)
  if (BEHAVIOUR === 'rejecting') setTimeout(() => void fail('late'), 10)
  onStop('server', () => pause(10))
  return { port: 1 }
}

const sample = { name: 'sample', config: () => loadConfig(schema) }
if (process.argv[2] === 'task') await runTask({ ...sample, run: async (...args) => void (await start(...args)) })
else await runService({ ...sample, start })

function crashNow(error: unknown): void {
  process.nextTick(() => {
    throw error
  })
}
