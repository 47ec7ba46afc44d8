import { killAll } from './supervise.ts'

const STOPPING_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
const ONE_KEY_PRESS_MS = 500

/**
 * Returns a signal that aborts when this process should stop: on Ctrl-C, SIGTERM, hang-up, or when its parent npm
 * exits. A second request kills all programs and exits.
 */
export function interruption(): AbortSignal {
  const controller = new AbortController()
  let requestedAt = 0
  const requestStop = (reason: string) => {
    // one Ctrl-C arrives twice: from the terminal and, forwarded, from npm
    if (requestedAt > 0 && Date.now() - requestedAt < ONE_KEY_PRESS_MS) return
    if (controller.signal.aborted) {
      killAll()
      process.exit(1)
    }
    requestedAt = Date.now()
    controller.abort(new Interrupted(reason))
  }
  for (const signal of STOPPING_SIGNALS) process.on(signal, () => requestStop(signal))
  if (process.env.npm_lifecycle_event) whenParentGone(() => controller.signal.aborted || requestStop('npm exited'))
  return controller.signal
}

/** The abort reason of an interruption, which is not a failure. */
export class Interrupted extends Error {
  override name = 'Interrupted'
}

function whenParentGone(action: () => void): void {
  const parent = process.ppid
  setInterval(() => process.ppid === parent || action(), 500).unref()
}
