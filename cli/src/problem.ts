/** Something the person at the keyboard has to know: one line, no stack. */
export class Problem extends Error {
  override name = 'Problem'
}

/** A command that cannot be understood. */
export class UsageProblem extends Problem {
  override name = 'UsageProblem'
}
