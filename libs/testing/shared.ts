type Stoppable = { stop(): Promise<void> }

let isKept = false
const running = new Set<() => Promise<void>>()

/**
 * Starts something that the test files of one process share. Every caller gets it with a `stop` of its own; what runs is
 * stopped with its last user, or by `stopShared` once `keepShared` was called.
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
    running.add(stop)
    users++
    const one = await started
    return {
      ...one,
      stop: async () => {
        users--
        if (users === 0 && !isKept) await stop()
      },
    }
  }
}

/** Keeps what is shared running between its users, until `stopShared`. */
export function keepShared(): void {
  isKept = true
}

/** Stops what is shared. */
export async function stopShared(): Promise<void> {
  await Promise.all([...running].map(stop => stop()))
}
