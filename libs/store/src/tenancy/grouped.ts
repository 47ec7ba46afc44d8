import { AppError } from '@rollcall/contract'
import type { ClientSession } from 'mongoose'
import type { Store } from './connection.ts'
import { isTransient, isUnavailable } from './errors.ts'

/**
 * Writes the items of a group in one transaction and returns a result for each, in order. An `AppError` as a result refuses
 * that item alone; if it refuses all of them, nothing is committed. If the write throws, the items are retried one by one.
 */
export type WriteGroup<Item, Result> = (
  tx: ClientSession,
  items: readonly Item[],
  group: string,
) => Promise<readonly (Result | AppError)[]>

/** The caller of a write, which waits until a deadline in milliseconds since 1970. */
type Waits = { deadline: number }

type Waiting<Item, Result> = Waits & {
  since: number
  item: Item
  resolve: (result: Result) => void
  reject: (error: unknown) => void
}

/** Longer than writes of the same kind let each other wait. */
const LONG_WAIT_MS = 50

/** Options of `groupWrites`. */
export type GroupOptions = {
  /** Items of one transaction at most. Default 100. */
  maxItems?: number
  /** Called when other transactions have made items of a group wait. */
  onWait?: (group: string) => Promise<void>
}

/** Aborts a transaction whose items are all refused. */
class AllRefused<Key> extends Error {
  readonly results: Map<Key, unknown>

  constructor(results: Map<Key, unknown>) {
    super('all items are refused')
    this.results = results
  }
}

/**
 * Groups writes that would conflict in one document, for example the counter of an organization. While a transaction of the
 * group runs, further items wait and share the next one. One transaction for many items costs little more than for one;
 * one transaction for each would conflict and be retried.
 * @returns a function that writes an item as part of its group and resolves once it is committed. An item whose caller has
 * stopped waiting is not written.
 */
export function groupWrites<Item, Result>(
  store: Store,
  write: WriteGroup<Item, Result>,
  { maxItems = 100, onWait = async () => {} }: GroupOptions = {},
): (group: string, item: Item, caller: Waits) => Promise<Result> {
  const groups = new Map<string, Waiting<Item, Result>[]>()

  /** Writes the items whose callers still wait; an earlier attempt may have taken long. */
  const attempt = async (tx: ClientSession, group: string, batch: Waiting<Item, Result>[]) => {
    const awaited = batch.filter(({ deadline }) => deadline > Date.now())
    const items = awaited.map(({ item }) => item)
    const written = items.length > 0 ? await write(tx, items, group) : []
    const results = new Map(awaited.map((waiting, index) => [waiting, written[index]!]))
    if (written.every(result => result instanceof AppError)) throw new AllRefused(results)
    return results
  }

  const settle = (batch: Waiting<Item, Result>[], results: Map<unknown, unknown>): void => {
    for (const waiting of batch) {
      const result = results.has(waiting) ? results.get(waiting) : new AppError('service.unavailable', {})
      if (result instanceof AppError) waiting.reject(result)
      else waiting.resolve(result as Result)
    }
  }

  /** Returns a function that calls `onWait` once, when the items have waited long. */
  const waitNotifier = (group: string, batch: Waiting<Item, Result>[]) => {
    const since = Math.min(...batch.map(({ since }) => since))
    let isNotified = false
    return () => {
      if (isNotified || Date.now() - since < LONG_WAIT_MS) return
      isNotified = true
      void onWait(group).catch(() => undefined) // others only wait longer
    }
  }

  const commit = async (group: string, batch: Waiting<Item, Result>[]): Promise<void> => {
    const notifyOfWait = waitNotifier(group, batch)
    const work = (tx: ClientSession) => {
      notifyOfWait()
      return attempt(tx, group, batch)
    }
    try {
      const timeoutMs = Math.max(...batch.map(({ deadline }) => deadline)) - Date.now()
      settle(batch, await store.transaction(work, { queue: group, timeoutMs }))
    } catch (error) {
      if (error instanceof AllRefused) return settle(batch, error.results)
      const [first, ...rest] = batch
      if (rest.length === 0 || isTransient(error) || isUnavailable(error)) {
        for (const { reject } of batch) reject(error)
        return
      }
      await commit(group, [first!])
      for (const waiting of rest) await commit(group, [waiting])
    }
  }

  const work = async (group: string, queue: Waiting<Item, Result>[]): Promise<void> => {
    while (queue.length > 0) await commit(group, queue.splice(0, maxItems))
    groups.delete(group)
  }

  return (group, item, { deadline }) =>
    new Promise((resolve, reject) => {
      const waiting = { since: Date.now(), item, deadline, resolve, reject }
      const queue = groups.get(group)
      if (queue) return void queue.push(waiting)
      const fresh = [waiting]
      groups.set(group, fresh)
      void work(group, fresh)
    })
}
