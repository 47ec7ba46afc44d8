import type { Logger } from './logger.ts'
import { within } from './time.ts'

/** Resolves when the dependency can be used, rejects otherwise. The signal fires at the time limit. */
export type ReadyCheck = (signal: AbortSignal) => Promise<void>

/** The answer to a readiness probe. */
export type Readiness = {
  ok: boolean
  state: 'starting' | 'serving' | 'draining'
  checks: Record<string, 'ok' | 'failed'>
}

/** Liveness and readiness of this process. */
export type Health = {
  /** Whether a stop has begun. */
  readonly draining: boolean
  /** Always ok: an answer proves that the event loop runs. */
  live(): { ok: true }
  /** Adds a dependency that the service cannot serve without. */
  addReadyCheck(name: string, check: ReadyCheck): void
  /** Runs the checks concurrently, each within the time limit. */
  ready(): Promise<Readiness>
  /** Ends the start: the process accepts work. */
  serving(): void
  /** Begins a stop: not ready from now on. Returns whether the process was serving. */
  drain(): boolean
}

/** Creates the health of one process. `checkTimeoutMs` limits each ready check; keep it below the probe's timeout. */
export function createHealth({ logger, checkTimeoutMs = 800 }: { logger: Logger; checkTimeoutMs?: number }): Health {
  const checks = new Map<string, ReadyCheck>()
  const failing = new Set<string>()
  let state: Readiness['state'] = 'starting'

  const run = async (name: string, check: ReadyCheck): Promise<boolean> => {
    try {
      await within(checkTimeoutMs, `ready check ${name}`, check)
      if (failing.delete(name)) logger.info({ check: name }, 'ready check recovered')
      return true
    } catch (err) {
      // Probes come every few seconds, so only changes are logged.
      if (!failing.has(name)) logger.warn({ check: name, err }, 'ready check failed')
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
