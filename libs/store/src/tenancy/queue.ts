/** Runs tasks of one key one after another, those of different keys side by side. */
export type Queue = <T>(key: string, task: () => Promise<T>) => Promise<T>

/** Creates a queue. A key that nothing waits for takes no memory. */
export function createQueue(): Queue {
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
