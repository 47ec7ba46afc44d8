/** An error for the user: printed as one line, without a stack. */
export class Problem extends Error {
  override name = 'Problem'
}

/** A command that is not valid. */
export class UsageProblem extends Problem {
  override name = 'UsageProblem'
}
