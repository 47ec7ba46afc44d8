const CONCURRENCY = 4
/** Consecutive failures after which an endpoint gets one request at a time. */
const FAILURES = 10

/** Limits concurrent requests per endpoint, by what this process has seen of it. */
export type Circuits = {
  /** Returns how many requests an endpoint may get at once: one while it fails. */
  limitOf(endpointId: string): number
  /** Returns the endpoints that fail. */
  failing(): string[]
  /** Records the consecutive failures of an endpoint; 0 after a success. */
  note(endpointId: string, failures: number): void
}

/** Creates the limits. An endpoint that hangs must not take the connections of others. */
export function createCircuits(): Circuits {
  const failing = new Set<string>()
  return {
    limitOf: endpointId => (failing.has(endpointId) ? 1 : CONCURRENCY),
    failing: () => [...failing],
    note(endpointId, failures) {
      if (failures >= FAILURES) failing.add(endpointId)
      else failing.delete(endpointId)
    },
  }
}
