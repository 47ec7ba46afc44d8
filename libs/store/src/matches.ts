/** What a filter matches in a list. */
export type Match = {
  total: number
  /** Where they are, newest first; only of few. */
  positions?: readonly number[]
}

/**
 * Remembers what filters match for as long as their list is unchanged, so that going through the pages of a filtered
 * list looks through it once. Only for lists whose writers all take, release or touch positions: nothing else tells it.
 */
export type MatchMemory = {
  /** @param changes the count of changes of the list, read before `look` begins */
  recall(key: string, changes: number, look: () => Promise<Match>): Promise<Match>
}

/** Creates a memory of at most `maxEntries` filters; those not asked for the longest are forgotten first. */
export function createMatchMemory({ maxEntries = 1000 } = {}): MatchMemory {
  const entries = new Map<string, { changes: number; match: Promise<Match> }>()
  return {
    recall(key, changes, look) {
      const known = entries.get(key)
      const entry = known?.changes === changes ? known : { changes, match: look() }
      entries.delete(key)
      entries.set(key, entry) // the last one asked for stands last
      if (entries.size > maxEntries) entries.delete(entries.keys().next().value!)
      entry.match.catch(() => {
        if (entries.get(key) === entry) entries.delete(key)
      })
      return entry.match
    },
  }
}
