/** An error that the user can fix: one line with the cause and what to do. */
export class Problem extends Error {
  override name = 'Problem'
}

/** Returns the text to print for an error: the message of a Problem, else the stack. */
export function explain(error: unknown): string {
  if (error instanceof Problem) return error.message
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
