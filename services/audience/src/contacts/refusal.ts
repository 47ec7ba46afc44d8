import { AppError } from '@rollcall/contract'

/** Runs one step of a group of writes: a refusal takes the place of its result, and the others go on. */
export function orRefusal<T>(make: () => T): T | AppError {
  try {
    return make()
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
}

/** Whether a step came to something: it was not refused, and there was something to do. */
export function succeeded<T extends object>(result: T | AppError | undefined): result is T {
  return result !== undefined && !(result instanceof AppError)
}
