import { randomUUID } from 'node:crypto'
import { backoffMs, pause, withJitter } from '@rollcall/runtime'
import { createLease, type Lease, LeaseLost, type Store } from '@rollcall/store'
import { BACKOFF, type Backoff, type Job, type Outcome } from './job.ts'
import { createMeter, type Meter } from './meter.ts'

/** What a lease is taken for. */
export type LeaseItem = { _id: unknown }

/** A slice of work under a lease. */
export type LeaseSlice = {
  /** Fires when the process stops, or another one has taken the item over: end at once, by returning or rejecting. */
  signal: AbortSignal
  /** Fails the transaction unless this slice still has the lease: call it first in every transaction. */
  fence: Lease['fence']
}

/** A job over items that one replica at a time works on. */
export type LeaseJobOptions<T extends LeaseItem> = {
  name: string
  lease: { store: Store; ttlMs?: number }
  /** Returns the items that have work to do, including those of other replicas. */
  unfinished(): Promise<T[]>
  /** Returns the current item; null once it has no work to do. */
  load(item: T): Promise<T | null>
  /** Returns since when the item waits: when it was due, or last made progress. */
  since(item: T): Date
  /** Runs a slice. A number keeps the lease while it waits, so that the pace holds for all replicas together. */
  run(item: T, slice: LeaseSlice): Promise<Outcome>
  /**
   * How often to search for unfinished items, in milliseconds. Default: 2,000, and while there are none, the time of a
   * lease, for which the items of a replica that dies have to wait anyway.
   */
  pollMs?: number
  backoff?: Backoff
}

/** A running job over items under leases. */
export type LeaseJob<T extends LeaseItem> = Job & {
  /** Starts work on an item that was just stored. */
  wake(item: T): void
  /**
   * Works on an item, or waits for the replica that does.
   * @returns true once the item has no work left, false when the signal fires or this process stops
   */
  complete(item: T, signal: AbortSignal): Promise<boolean>
}

const TTL_MS = 5000
const POLL_MS = 2000
const WAIT_POLL_MS = 200

/** Creates a job over items under leases; see `defineJob`. */
export function leaseJob<T extends LeaseItem>(options: LeaseJobOptions<T>): LeaseJob<T> {
  const { name, load, pollMs, backoff = BACKOFF } = options
  const { store, ttlMs = TTL_MS } = options.lease
  const stopping = new AbortController()
  const running = new Map<string, Promise<void>>()
  let meter: Meter | undefined
  let polling: Promise<void> = Promise.resolve()

  /** Works on an item until it has no work left, or returns because another replica has it. */
  const work = (item: T): Promise<void> => {
    const id = String(item._id)
    if (!meter || stopping.signal.aborted) return Promise.resolve()
    const worked = running.get(id) ?? workUnderLease(item, meter).finally(() => running.delete(id))
    running.set(id, worked)
    return worked
  }

  const workUnderLease = async (item: T, meter: Meter): Promise<void> => {
    const lease = createLease(store, `${name} ${item._id}`, randomUUID(), ttlMs)
    const { lost, end } = keepAlive(lease, ttlMs)
    const signal = AbortSignal.any([stopping.signal, lost.signal])
    const runSlice = async (current: T) => {
      try {
        return await options.run(current, { signal, fence: lease.fence })
      } catch (error) {
        if (error instanceof LeaseLost) lost.abort()
        throw error
      }
    }
    try {
      for (let failures = 0; !signal.aborted; ) {
        try {
          if (!(await lease.acquire())) return
          const current = await load(item)
          if (!current) return
          const outcome = await meter.run(() => runSlice(current), signal, { item: String(item._id) })
          failures = 0
          if (outcome === 'done') return
          if (outcome !== 'again') await pause(outcome, signal)
        } catch {
          await pause(backoffMs(++failures, backoff), signal)
        }
      }
    } finally {
      await end()
    }
  }

  const poll = async (meter: Meter): Promise<void> => {
    while (!stopping.signal.aborted) {
      const items = await meter.poll(options.unfinished)
      if (items) meter.backlog(items.length, items.map(options.since))
      for (const item of items ?? []) void work(item)
      await pause(withJitter(pollMs ?? (items?.length === 0 ? ttlMs : POLL_MS)), stopping.signal)
    }
  }

  return {
    name,
    wake: item => void work(item),
    async complete(item, waiting) {
      const signal = AbortSignal.any([waiting, stopping.signal])
      const { promise: gaveUp, resolve: giveUp } = Promise.withResolvers<void>()
      signal.addEventListener('abort', () => giveUp(), { once: true })
      while (!signal.aborted) {
        await Promise.race([work(item), gaveUp])
        if (!(await load(item))) return true
        await pause(WAIT_POLL_MS, signal)
      }
      return false
    },
    start(runtime) {
      meter = createMeter(name, runtime)
      polling = poll(meter)
    },
    async stop() {
      stopping.abort()
      await Promise.all([polling, ...running.values()])
    },
  }
}

/** Renews a lease until `end`, which releases it; `lost` fires when another replica has it. */
function keepAlive(lease: Lease, ttlMs: number): { lost: AbortController; end(): Promise<void> } {
  const lost = new AbortController()
  let renewal: Promise<unknown> = Promise.resolve()
  const renewing = setInterval(() => {
    renewal = lease.acquire().then(
      isHeld => isHeld || lost.abort(),
      () => undefined, // if it keeps failing, the lease expires, and the fence holds
    )
  }, ttlMs / 3)
  return {
    lost,
    async end() {
      clearInterval(renewing)
      await renewal // one that arrives after the release would take the lease again
      await lease.release().catch(() => undefined) // it expires by itself
    },
  }
}
