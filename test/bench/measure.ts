/** One figure of a benchmark: what was measured beside what it has to reach. */
export type Figure = { name: string; measured: string; goal: string; ok: boolean }

/** Middle value; the mean of the two middle ones where the count is even. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/**
 * Measures two ways of doing the same side by side: A B A B …, after one warm-up of each, so that a machine whose speed
 * drifts slows both alike. Each function does the whole work once and answers its rate (or time). One round is for work
 * so long that it needs no warm-up.
 * @returns the medians of both, and of the ratios a/b pair by pair
 */
export async function sideBySide(a: () => Promise<number>, b: () => Promise<number>, rounds = 5) {
  if (rounds > 1) {
    await a()
    await b()
  }
  const as: number[] = []
  const bs: number[] = []
  for (let round = 0; round < rounds; round++) {
    as.push(await a())
    bs.push(await b())
  }
  return { a: median(as), b: median(bs), ratio: median(as.map((value, index) => value / bs[index]!)) }
}

/** A ratio that has to reach a goal: more is better. */
export function atLeast(name: string, ratio: number, goal: number): Figure {
  return { name, measured: `${ratio.toFixed(2)}×`, goal: `≥ ${goal}×`, ok: ratio >= goal }
}

/** A ratio that must not pass a goal: less is better. */
export function atMost(name: string, ratio: number, goal: number): Figure {
  return { name, measured: `${ratio.toFixed(2)}×`, goal: `≤ ${goal}×`, ok: ratio <= goal }
}

/** The line that a figure is printed as. */
export function lineOf({ name, measured, goal, ok }: Figure): string {
  return `${name}  ${measured}  ${goal}  ${ok ? 'ok' : 'short'}`
}
