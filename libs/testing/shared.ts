type Stoppable = { stop(): Promise<void> }

let isKept = false
const running = new Set<() => Promise<void>>()

/**
 * Returns a start function whose result the test files of one process share. Every caller gets it with its own `stop`.
 * The last user's `stop` stops it, or `stopShared` after a call of `keepShared`.
 */
export function shared<T extends Stoppable>(start: () => Promise<T>): () => Promise<T> {
  let users = 0
  let started: Promise<T> | undefined
  const stop = async () => {
    const stopping = started
    started = undefined
    running.delete(stop)
    await (await stopping)?.stop()
  }
  return async () => {
    started ??= start()
    users++
    const one = await started.catch(error => {
      users--
      started = undefined // the next caller tries again
      throw error
    })
    running.add(stop)
    return {
      ...one,
      stop: async () => {
        users--
        if (users === 0 && !isKept) await stop()
      },
    }
  }
}

/** Keeps shared resources running without users, until `stopShared`. */
export function keepShared(): void {
  isKept = true
}

/** Stops all shared resources. */
export async function stopShared(): Promise<void> {
  await Promise.all([...running].map(stop => stop()))
}
