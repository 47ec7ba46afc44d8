import { AppError } from '@rollcall/contract'
import type { ClientSession } from 'mongoose'
import type { Store } from './connection.ts'
import { isTransient } from './errors.ts'

/**
 * Writes the items of a group in one transaction and returns a result for each, in order. An `AppError` as a result refuses
 * that item alone. If the write throws, the items are retried one by one.
 */
export type WriteGroup<Item, Result> = (
  tx: ClientSession,
  items: readonly Item[],
  group: string,
) => Promise<readonly (Result | AppError)[]>

type Waiting<Item, Result> = { item: Item; resolve: (result: Result) => void; reject: (error: unknown) => void }

/**
 * Groups writes that would conflict in one document, for example the counter of an organization. While a transaction of the
 * group runs, further items wait and share the next one. One transaction for many items costs little more than for one;
 * one transaction for each would conflict and be retried.
 * @returns a function that writes an item as part of its group and resolves once it is committed
 */
export function groupWrites<Item, Result>(
  store: Store,
  write: WriteGroup<Item, Result>,
  { maxItems = 100 } = {},
): (group: string, item: Item) => Promise<Result> {
  const groups = new Map<string, Waiting<Item, Result>[]>()

  const commit = async (group: string, batch: Waiting<Item, Result>[]): Promise<void> => {
    try {
      const items = batch.map(({ item }) => item)
      const results = await store.transaction(tx => write(tx, items, group), { queue: group })
      batch.forEach(({ resolve, reject }, index) => {
        const result = results[index]!
        if (result instanceof AppError) reject(result)
        else resolve(result)
      })
    } catch (error) {
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

  return (group, item) =>
    new Promise((resolve, reject) => {
      const waiting = { item, resolve, reject }
      const queue = groups.get(group)
      if (queue) return void queue.push(waiting)
      const fresh = [waiting]
      groups.set(group, fresh)
      void work(group, fresh)
    })
}

function isUnavailable(error: unknown): boolean {
  return error instanceof AppError && error.code === 'service.unavailable'
}
