import type { Logger } from './logger.ts'
import { within } from './time.ts'

/** Resolves when the thing it looks at can be used, rejects otherwise. The signal fires when the answer is no longer awaited. */
export type ReadyCheck = (signal: AbortSignal) => Promise<void>

/** What a readiness probe is told. */
export type Readiness = {
  ok: boolean
  state: 'starting' | 'serving' | 'draining'
  checks: Record<string, 'ok' | 'failed'>
}

/** Whether this process is alive, and whether it should be sent work. */
export type Health = {
  /** True from the moment a stop began. */
  readonly draining: boolean
  /** That this is answered is the proof: it looks at nothing but the event loop. */
  live(): { ok: true }
  /** Adds something the service cannot serve without. */
  addReadyCheck(name: string, check: ReadyCheck): void
  /** Runs the checks side by side, each within the time limit. */
  ready(): Promise<Readiness>
  /** Start is over: work may come. */
  serving(): void
  /** A stop began: not ready from now on. Answers whether work may have come before. */
  drain(): boolean
}

/** Creates the health of one process. `checkTimeoutMs` bounds each ready check; keep it below the probe's own time limit. */
export const createHealth = ({ logger, checkTimeoutMs = 800 }: { logger: Logger; checkTimeoutMs?: number }): Health => {
  const checks = new Map<string, ReadyCheck>()
  const failing = new Set<string>()
  let state: Readiness['state'] = 'starting'

  const run = async (name: string, check: ReadyCheck): Promise<boolean> => {
    try {
      await within(checkTimeoutMs, `ready check ${name}`, check)
      if (failing.delete(name)) logger.info({ check: name }, 'ready check passes again')
      return true
    } catch (err) {
      // Probes come every few seconds: only the change is worth a line.
      if (!failing.has(name)) logger.warn({ check: name, err }, 'ready check fails')
      failing.add(name)
      return false
    }
  }

  return {
    get draining() {
      return state === 'draining'
    },
    live: () => ({ ok: true }),
    addReadyCheck: (name, check) => void checks.set(name, check),
    async ready() {
      const results = await Promise.all(
        [...checks].map(async ([name, check]) => [name, (await run(name, check)) ? 'ok' : 'failed'] as const),
      )
      const ok = state === 'serving' && results.every(([, result]) => result === 'ok')
      return { ok, state, checks: Object.fromEntries(results) }
    },
    serving: () => {
      if (state === 'starting') state = 'serving'
    },
    drain: () => {
      const wasServing = state === 'serving'
      state = 'draining'
      return wasServing
    },
  }
}
