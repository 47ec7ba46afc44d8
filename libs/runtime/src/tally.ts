/** Amounts by key, of this process. A key whose amount is back at zero takes no memory. */
export type Tally = {
  /** The amount of a key; 0 for one that was never counted. */
  of(key: string): number
  /** Changes the amount of a key and returns the new one. */
  add(key: string, change: number): number
}

/** Creates a tally of nothing. */
export function createTally(): Tally {
  const amounts = new Map<string, number>()
  const of = (key: string) => amounts.get(key) ?? 0
  return {
    of,
    add(key, change) {
      const amount = of(key) + change
      if (amount > 0) amounts.set(key, amount)
      else amounts.delete(key)
      return amount
    },
  }
}
