/** Whether this is `npm run soak`: the harnesses then go to the full counts of the goals. */
export const isSoak = process.env.SOAK === 'full'

/** How often a harness does what it does: few times among the tests, `full` in the soak, or what COUNT says. */
export function counted(short: number, full: number): number {
  return Number(process.env.COUNT ?? (isSoak ? full : short))
}

/** What random choices begin with: the same in every run of the suite, another in every soak, or what SEED says. */
export const seed = Number(process.env.SEED ?? (isSoak ? Date.now() % 2 ** 31 : 1))
