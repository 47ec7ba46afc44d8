/** Whether this is `npm run soak`: the harnesses then go to the full counts of the goals. */
export const isSoak = process.env.SOAK === 'full'

/** How often a harness does what it does: few times among the tests, `full` in the soak, or what COUNT says. */
export function counted(short: number, full: number): number {
  return Number(process.env.COUNT ?? (isSoak ? full : short))
}
