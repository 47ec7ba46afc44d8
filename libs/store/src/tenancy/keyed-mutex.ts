/** Runs tasks of one key one after another, and tasks of different keys concurrently. */
export type KeyedMutex = <T>(key: string, task: () => Promise<T>) => Promise<T>

/** Creates a keyed mutex. A key without tasks takes no memory. */
export function createKeyedMutex(): KeyedMutex {
  const tails = new Map<string, Promise<unknown>>()
  return (key, task) => {
    const ahead = tails.get(key) ?? Promise.resolve()
    const run = ahead.then(task, task)
    tails.set(key, run)
    const clear = () => {
      if (tails.get(key) === run) tails.delete(key)
    }
    run.then(clear, clear)
    return run
  }
}
