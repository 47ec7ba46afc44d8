/** Whether this is `npm run soak`, in which the harnesses run with the full counts of the goals. */
export const isSoak = process.env.SOAK === 'full'

/** Returns how often a harness repeats: few times in the suite, `full` in the soak, or COUNT. */
export function counted(short: number, full: number): number {
  return Number(process.env.COUNT ?? (isSoak ? full : short))
}

/** Seed of random choices: fixed in the suite, new in each soak, or SEED. */
export const seed = Number(process.env.SEED ?? (isSoak ? Date.now() % 2 ** 31 : 1))
