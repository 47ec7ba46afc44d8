import { type Budget, createBudget } from '@rollcall/runtime'
import type { Config } from './config.ts'
import { createWatch, type Watch } from './watch.ts'

/** Limits what slow and greedy clients can take of the process. */
export type Bounds = {
  /** Bytes of request bodies, from arrival until the answer, by client address. */
  bodies: Budget
  /** Bytes of answers that clients have not read yet. */
  answers: Budget
  watch: Watch
  /** Minimum bytes of an upload within the time of the watch. */
  uploadAtLeast: number
  /** Time for a whole upload: for a file of the maximum size at the minimum pace, and for the answer. */
  uploadDeadlineMs: number
}

const UPLOAD_BYTES_PER_SECOND = 16 * 1024

type Settings = Pick<
  Config,
  | 'BODY_MEMORY_BYTES'
  | 'BODY_MEMORY_BYTES_PER_ADDRESS'
  | 'ANSWER_MEMORY_BYTES'
  | 'CLIENT_TIMEOUT_MS'
  | 'STREAM_DEADLINE_MS'
  | 'UPLOAD_MAX_BYTES'
>

/** Creates the bounds from the settings. */
export function createBounds(config: Settings): Bounds {
  return {
    bodies: createBudget({
      total: config.BODY_MEMORY_BYTES,
      share: config.BODY_MEMORY_BYTES_PER_ADDRESS,
      favoursSmall: true,
    }),
    answers: createBudget({ total: config.ANSWER_MEMORY_BYTES }),
    watch: createWatch(config.CLIENT_TIMEOUT_MS),
    uploadAtLeast: (UPLOAD_BYTES_PER_SECOND * config.CLIENT_TIMEOUT_MS) / 1000,
    uploadDeadlineMs: config.STREAM_DEADLINE_MS + Math.ceil((config.UPLOAD_MAX_BYTES / UPLOAD_BYTES_PER_SECOND) * 1000),
  }
}
