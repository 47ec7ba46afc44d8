/** A client that the gateway waits for. */
export type Watched = {
  /** Bytes that it has sent or taken so far; undefined while the gateway does not wait for it. */
  progress(): number | undefined
  /** What it has to get on by within the time, in bytes. */
  atLeast: number
  /** Called once when it did not. */
  cut(): void
}

/** Looks after clients that may be too slow. */
export type Watch = {
  /** @returns how to stop watching */
  add(watched: Watched): () => void
  stop(): void
}

const longestRoundMs = 1_000
const roundsPerWindow = 10

/** Cuts off clients that do not get on by what they have to within `windowMs`. One timer looks at all of them. */
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
  const looking = setInterval(look, Math.min(longestRoundMs, windowMs / roundsPerWindow)).unref()
  return {
    add(watched) {
      since.set(watched, { at: performance.now(), bytes: watched.progress() ?? 0 })
      return () => void since.delete(watched)
    },
    stop: () => clearInterval(looking),
  }
}
