import { type Budget, createBudget } from '@rollcall/runtime'
import type { Config } from './config.ts'
import { createWatch, type Watch } from './watch.ts'

/** Keeps slow and greedy clients from using up the process. */
export type Bounds = {
  /** Bytes of request bodies, from their arrival to their answer, by client address. */
  bodies: Budget
  /** Bytes of answers that their clients have not taken yet. */
  answers: Budget
  watch: Watch
  /** What an upload has to bring within the time of the watch, in bytes. */
  uploadAtLeast: number
}

const uploadBytesPerSecond = 16 * 1024

type Settings = Pick<
  Config,
  'BODY_MEMORY_BYTES' | 'BODY_MEMORY_BYTES_PER_ADDRESS' | 'ANSWER_MEMORY_BYTES' | 'CLIENT_TIMEOUT_MS'
>

/** The bounds that the configuration sets. */
export function createBounds(config: Settings): Bounds {
  return {
    bodies: createBudget({
      total: config.BODY_MEMORY_BYTES,
      share: config.BODY_MEMORY_BYTES_PER_ADDRESS,
      favoursSmall: true,
    }),
    answers: createBudget({ total: config.ANSWER_MEMORY_BYTES }),
    watch: createWatch(config.CLIENT_TIMEOUT_MS),
    uploadAtLeast: (uploadBytesPerSecond * config.CLIENT_TIMEOUT_MS) / 1000,
  }
}
