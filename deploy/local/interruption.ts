import { killAll } from './supervise.ts'

const STOPPING_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
const ONE_KEY_PRESS_MS = 500

/**
 * Aborts when this process is asked to stop: at Ctrl-C, SIGTERM or hang-up, and when npm started it and is gone. Who
 * asks again does not want to wait: then every program is killed.
 */
export function interruption(): AbortSignal {
  const controller = new AbortController()
  let askedAt = 0
  const ask = (reason: string) => {
    // one Ctrl-C arrives twice: from the terminal, and from npm, which passes it on
    if (askedAt > 0 && Date.now() - askedAt < ONE_KEY_PRESS_MS) return
    if (controller.signal.aborted) {
      killAll()
      process.exit(1)
    }
    askedAt = Date.now()
    controller.abort(new Interrupted(reason))
  }
  for (const signal of STOPPING_SIGNALS) process.on(signal, () => ask(signal))
  if (process.env.npm_lifecycle_event) whenParentGone(() => controller.signal.aborted || ask('npm is gone'))
  return controller.signal
}

/** The reason of an interruption's abort: nothing went wrong. */
export class Interrupted extends Error {
  override name = 'Interrupted'
}

function whenParentGone(action: () => void): void {
  const parent = process.ppid
  setInterval(() => process.ppid === parent || action(), 500).unref()
}
