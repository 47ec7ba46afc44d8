/** In-memory amounts by key. A key whose amount is 0 again uses no memory. */
export type Tally = {
  /** Returns the amount of a key; 0 for an unknown key. */
  of(key: string): number
  /** Changes the amount of a key and returns the new one. */
  add(key: string, change: number): number
}

/** Creates an empty tally. */
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
