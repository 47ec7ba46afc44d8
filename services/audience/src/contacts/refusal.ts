import { AppError } from '@rollcall/contract'

/** Runs one step of a group of writes. Returns its AppError instead of throwing it, so that the others continue. */
export function orRefusal<T>(make: () => T): T | AppError {
  try {
    return make()
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
}

/** Whether a step has a result: it did not fail, and there was something to do. */
export function succeeded<T extends object>(result: T | AppError | undefined): result is T {
  return result !== undefined && !(result instanceof AppError)
}
