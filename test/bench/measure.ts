/** One figure of a benchmark: the measured value and its goal. */
export type Figure = { name: string; measured: string; goal: string; ok: boolean }

/** Returns the median: the middle value, or the mean of the two middle ones. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/**
 * Measures two variants alternately: A B A B …, after a warm-up of each. So a drift of the machine's speed affects both.
 * Each function does the whole work once and returns its rate (or time). A single round skips the warm-up: it is for
 * long work.
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

/** Returns a figure whose ratio must be at least its goal. */
export function atLeast(name: string, ratio: number, goal: number): Figure {
  return { name, measured: `${ratio.toFixed(2)}×`, goal: `≥ ${goal}×`, ok: ratio >= goal }
}

/** Returns a figure whose ratio must be at most its goal. */
export function atMost(name: string, ratio: number, goal: number): Figure {
  return { name, measured: `${ratio.toFixed(2)}×`, goal: `≤ ${goal}×`, ok: ratio <= goal }
}

/** Formats a figure as one line of output. */
export function lineOf({ name, measured, goal, ok }: Figure): string {
  return `${name}  ${measured}  ${goal}  ${ok ? 'ok' : 'short'}`
}
