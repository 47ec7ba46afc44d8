import { createTally } from './tally.ts'

/** One holder's part of a budget. */
export type Hold = {
  /** Sets the hold to `amount`. If that does not fit, leaves it unchanged and returns which limit is reached. */
  resize(amount: number): 'share' | 'total' | undefined
  /** Records progress and restarts the idle time. */
  touch(): void
  /** Prevents eviction until the next `touch`. For work that does not wait for a client. */
  pin(): void
  release(): void
}

/** A limited amount, for example of memory, that many holders share. */
export type Budget = {
  readonly used: number
  readonly share: number
  /** Opens a hold of 0. `evict` is called after the hold is released; it must free what was held. */
  hold(key: string, evict: () => void): Hold
}

export type BudgetOptions = {
  total: number
  /** The limit for all holders of one key. */
  share?: number
  /** A holder that has been idle for this long can be evicted. */
  idleMs?: number
  /** Whether a request can evict holders of more than the requested amount before they are idle. */
  favoursSmall?: boolean
}

type Holder = { key: string; amount: number; touchedAt: number; isPinned: boolean; evict(): void }

/**
 * Creates a budget. When a request does not fit, the holders that have been idle longest are evicted.
 * So a client that stalls cannot block the others.
 */
export function createBudget(options: BudgetOptions): Budget {
  const { total, share = Infinity, idleMs = 1_000, favoursSmall = false } = options
  /** Longest idle first. */
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
  const evictFor = (requester: Holder, amount: number) => {
    const idleSince = performance.now() - idleMs
    for (const holder of holders) {
      if (used + amount - requester.amount <= total) return
      if (holder === requester || holder.isPinned || holder.amount === 0) continue
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
