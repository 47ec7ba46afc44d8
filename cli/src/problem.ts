/** An error for the user: printed as one line, without a stack. */
export class Problem extends Error {
  override name = 'Problem'
}

/** A command that is not valid. */
export class UsageProblem extends Problem {
  override name = 'UsageProblem'
}

/** Returns the message of an error, or of its cause. */
export function messageOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error
  return cause instanceof Error ? cause.message || cause.name : String(cause)
}
