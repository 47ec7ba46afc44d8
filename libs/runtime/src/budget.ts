import { createTally } from './tally.ts'

/** What one holder has of a budget. */
export type Hold = {
  /** Makes it `amount` in all. Answers what is used up where that does not fit; the hold then stays as it was. */
  resize(amount: number): 'share' | 'total' | undefined
  /** Notes progress. From now on the holder counts as idle, until it makes some more. */
  touch(): void
  /** The holder waits for nobody: it cannot be evicted until the next `touch`. */
  pin(): void
  release(): void
}

/** An amount, of memory for example, that many holders share. */
export type Budget = {
  readonly used: number
  readonly share: number
  /** Opens a hold of nothing. `evict` is called after the hold was taken away; it must let go of what was held. */
  hold(key: string, evict: () => void): Hold
}

export type BudgetOptions = {
  total: number
  /** What the holders of one key may have together. */
  share?: number
  /** A holder that has been idle for this long can be evicted. */
  idleMs?: number
  /** Whether a holder that has more than another asks for can be evicted before it is idle. */
  favoursSmall?: boolean
}

type Holder = { key: string; amount: number; touchedAt: number; isPinned: boolean; evict(): void }

/**
 * Shares an amount among holders. Where a new one finds too little left, those that have been idle longest lose what they
 * hold: a client that stalls cannot keep the others out.
 */
export function createBudget(options: BudgetOptions): Budget {
  const { total, share = Infinity, idleMs = 1_000, favoursSmall = false } = options
  /** The longest idle first. */
  const holders = new Set<Holder>()
  const byKey = createTally()
  let used = 0

  const add = (holder: Holder, amount: number) => {
    holder.amount += amount
    used += amount
    byKey.add(holder.key, amount)
  }
  const release = (holder: Holder) => {
    if (holders.delete(holder)) add(holder, -holder.amount)
  }
  const evictFor = (asking: Holder, amount: number) => {
    const idleSince = performance.now() - idleMs
    for (const holder of holders) {
      if (used + amount - asking.amount <= total) return
      if (holder === asking || holder.isPinned || holder.amount === 0) continue
      if (holder.touchedAt > idleSince && !(favoursSmall && holder.amount > amount)) continue
      release(holder)
      holder.evict()
    }
  }

  return {
    share,
    get used() {
      return used
    },
    hold(key, evict) {
      const holder: Holder = { key, amount: 0, touchedAt: performance.now(), isPinned: false, evict }
      holders.add(holder)
      return {
        resize(amount) {
          const more = amount - holder.amount
          if (!holders.has(holder) || amount > total) return 'total'
          if (byKey.of(key) + more > share) return 'share'
          if (used + more > total) evictFor(holder, amount)
          if (used + more > total) return 'total'
          add(holder, more)
          return undefined
        },
        touch() {
          holder.touchedAt = performance.now()
          holder.isPinned = false
          if (holders.delete(holder)) holders.add(holder)
        },
        pin() {
          holder.isPinned = true
        },
        release: () => release(holder),
      }
    },
  }
}
