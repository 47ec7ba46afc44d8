import type { RequestOptions } from './call.ts'
import { pause } from './send.ts'

/** Options of waiting for a job. */
export type WaitOptions<Status> = RequestOptions & {
  /** Called with every status, the last one included. */
  onProgress?: ((status: Status) => void) | undefined
}

const FIRST_PAUSE_MS = 200
const LONGEST_PAUSE_MS = 2_000

/** Reads a status until it is done, with growing pauses, and returns it. */
export async function pollUntil<Status>(
  isDone: (status: Status) => boolean,
  read: () => Promise<Status>,
  { signal, onProgress }: WaitOptions<Status>,
): Promise<Status> {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 1.25, LONGEST_PAUSE_MS)) {
    const status = await read()
    onProgress?.(status)
    if (isDone(status)) return status
    await pause(pauseMs, signal)
  }
}
