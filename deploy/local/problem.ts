/** Something the person who started the stack can set right: one line that names the cause and the way out. */
export class Problem extends Error {
  override name = 'Problem'
}

/** What to print for anything thrown: the one line of a Problem, the whole stack of a mistake of ours. */
export function explain(error: unknown): string {
  if (error instanceof Problem) return error.message
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
