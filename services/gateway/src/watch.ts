/** A client that the gateway waits for. */
export type Watched = {
  /** Bytes that it has sent or read so far; undefined while the gateway does not wait for it. */
  progress(): number | undefined
  /** Minimum progress within the time, in bytes. */
  atLeast: number
  /** Called once if the client is too slow. */
  cut(): void
}

/** Watches for clients that are too slow. */
export type Watch = {
  /** @returns a function that stops watching */
  add(watched: Watched): () => void
  stop(): void
}

const MAX_ROUND_MS = 1_000
const ROUNDS_PER_WINDOW = 10

/**
 * Starts a watch that cuts off clients without the minimum progress within `windowMs`. One timer checks all clients.
 */
export function createWatch(windowMs: number): Watch {
  const since = new Map<Watched, { at: number; bytes: number }>()
  const look = () => {
    const now = performance.now()
    for (const [watched, from] of since) {
      const bytes = watched.progress()
      if (bytes === undefined || bytes - from.bytes >= watched.atLeast) {
        from.at = now
        from.bytes = bytes ?? from.bytes
      } else if (now - from.at >= windowMs) {
        since.delete(watched)
        watched.cut()
      }
    }
  }
  const looking = setInterval(look, Math.min(MAX_ROUND_MS, windowMs / ROUNDS_PER_WINDOW)).unref()
  return {
    add(watched) {
      since.set(watched, { at: performance.now(), bytes: watched.progress() ?? 0 })
      return () => void since.delete(watched)
    },
    stop: () => clearInterval(looking),
  }
}
