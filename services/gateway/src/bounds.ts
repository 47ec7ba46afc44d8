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
}

const UPLOAD_BYTES_PER_SECOND = 16 * 1024

type Settings = Pick<
  Config,
  'BODY_MEMORY_BYTES' | 'BODY_MEMORY_BYTES_PER_ADDRESS' | 'ANSWER_MEMORY_BYTES' | 'CLIENT_TIMEOUT_MS'
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
  }
}
