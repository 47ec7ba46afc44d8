import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { KeyRing } from '@rollcall/credentials'
import type { Context } from '../context.ts'
import { takeReport } from './apply-report.ts'
import type { BouncedMessage } from './bounce-address.ts'
import type { BounceServer, ReturnOutcome } from './bounce-server.ts'
import type { Report } from './read-report.ts'

/** What the thread of the server starts with. */
export type WorkerSettings = { name: string; host: string; port: number; keys: KeyRing }
/** What it sends. */
export type FromWorker =
  | { kind: 'listening'; port: number }
  | { kind: 'report'; id: number; message: BouncedMessage; report: Report }
  | { kind: 'count'; outcome: ReturnOutcome }
/** What it gets. */
export type ToWorker = { kind: 'taken'; id: number; isTaken: boolean } | { kind: 'stop' }

/** A mail of 2 MiB needs a small part of this. A thread that needs more ends, and the others go on. */
const MAX_HEAP_MB = 64
const RESTART_MS = 1000

/**
 * Starts the SMTP server for bounces and complaints, in a thread of its own: what strangers send there never keeps the
 * thread that sends mail busy. That one only records reports, a few at a time.
 */
export async function startBounceListener(context: Context, port: number): Promise<BounceServer> {
  const { config, logger } = context
  const { RETURN_PATH_HOST, MAIL_HOST = 'localhost', LISTEN_HOST: host, LINK_KEYS: keys } = config
  const settings: WorkerSettings = { name: RETURN_PATH_HOST ?? `bounce.${MAIL_HOST}`, host, port, keys }
  let isStopping = false
  let current = await startWorker(context, settings)
  const restart = (exitCode: number): void => {
    if (isStopping) return
    logger.error({ exitCode }, 'server for bounces ended, restarting')
    setTimeout(() => {
      if (isStopping) return
      startWorker(context, { ...settings, port: current.port }).then(watch, () => restart(exitCode))
    }, RESTART_MS).unref()
  }
  const watch = (next: RunningWorker): void => {
    current = next
    next.worker.once('exit', restart)
  }
  watch(current)
  return {
    port: current.port,
    async stop() {
      isStopping = true
      if (current.worker.threadId < 0) return // it has ended
      const exited = once(current.worker, 'exit')
      current.worker.postMessage({ kind: 'stop' } satisfies ToWorker)
      await exited
    },
  }
}

type RunningWorker = { worker: Worker; port: number }

async function startWorker(context: Context, settings: WorkerSettings): Promise<RunningWorker> {
  const worker = new Worker(new URL('bounce-worker.ts', import.meta.url), {
    workerData: settings,
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
  })
  const listening = Promise.withResolvers<number>()
  worker.on('error', err => {
    context.logger.error({ err }, 'server for bounces failed')
    listening.reject(err)
  })
  worker.on('message', async (message: FromWorker) => {
    if (message.kind === 'listening') return listening.resolve(message.port)
    if (message.kind === 'count') return context.mailsReturned.inc({ outcome: message.outcome })
    const { id, message: bounced, report } = message
    const isTaken = await takeReport(context, bounced, report).then(
      () => true,
      err => {
        context.logger.warn({ err, mail: bounced.messageId }, 'report not recorded, its sender tries again')
        return false
      },
    )
    worker.postMessage({ kind: 'taken', id, isTaken } satisfies ToWorker)
  })
  return { worker, port: await listening.promise }
}
