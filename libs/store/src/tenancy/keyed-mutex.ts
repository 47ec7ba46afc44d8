/** Runs tasks that share a key one after another, and others concurrently. A task may have several keys. */
export type KeyedMutex = <T>(keys: readonly string[], task: () => Promise<T>) => Promise<T>

/** Creates a keyed mutex. A key without tasks takes no memory. */
export function createKeyedMutex(): KeyedMutex {
  const tails = new Map<string, Promise<unknown>>()

  const lock = <T>(key: string, task: () => Promise<T>): Promise<T> => {
    const ahead = tails.get(key) ?? Promise.resolve()
    const run = ahead.then(task, task)
    tails.set(key, run)
    const clear = () => {
      if (tails.get(key) === run) tails.delete(key)
    }
    run.then(clear, clear)
    return run
  }

  // In one order for all tasks: none waits for a key of another one that waits for its own.
  return (keys, task) =>
    [...new Set(keys)].sort().reduceRight<typeof task>((inner, key) => () => lock(key, inner), task)()
}
