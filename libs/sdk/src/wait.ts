import type { RequestOptions } from './call.ts'
import { ConnectionError, UnavailableError } from './errors.ts'
import { pause } from './send.ts'

/** Options of waiting for a job. */
export type WaitOptions<Status> = RequestOptions & {
  /** Called with every status, the last one included. */
  onProgress?: ((status: Status) => void) | undefined
}

const FIRST_PAUSE_MS = 200
const LONGEST_PAUSE_MS = 2_000
/** How long the API may be away. The job goes on meanwhile. */
const LONGEST_ABSENCE_MS = 60_000

/** Reads a status until it is done, with growing pauses, and returns it. Goes on while the API is away for up to a minute. */
export async function pollUntil<Status>(
  isDone: (status: Status) => boolean,
  read: () => Promise<Status>,
  { signal, onProgress }: WaitOptions<Status>,
): Promise<Status> {
  let answeredAt = performance.now()
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 1.25, LONGEST_PAUSE_MS)) {
    const status = await read().catch(error => {
      if (!isAway(error) || performance.now() - answeredAt > LONGEST_ABSENCE_MS) throw error
    })
    if (status) {
      answeredAt = performance.now()
      onProgress?.(status)
      if (isDone(status)) return status
    }
    await pause(pauseMs, signal)
  }
}

function isAway(error: unknown): boolean {
  return error instanceof ConnectionError || error instanceof UnavailableError
}
