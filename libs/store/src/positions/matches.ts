import { LRUCache } from 'lru-cache'
import type { Block } from './positions.ts'

/** What a filter matches in a list. */
export type Match = {
  total: number
  /** How many there are where, newest first. */
  blocks: readonly Block[]
  /** Where each of them is, newest first; only of few. */
  places?: readonly number[]
}

/**
 * Remembers what filters match for as long as their list is unchanged, so that going through the pages of a filtered
 * list looks through it once. Only for lists whose writers all take, release or touch positions: nothing else tells it.
 */
export type MatchMemory = {
  /** @param changes the count of changes of the list, read before `look` begins */
  recall(key: string, changes: number, look: () => Promise<Match>): Promise<Match>
}

/** Creates a memory of at most `maxEntries` filters. */
export function createMatchMemory({ maxEntries = 1000 } = {}): MatchMemory {
  const entries = new LRUCache<string, { changes: number; match: Promise<Match> }>({ max: maxEntries })
  return {
    recall(key, changes, look) {
      const known = entries.get(key)
      if (known?.changes === changes) return known.match
      const entry = { changes, match: look() }
      entries.set(key, entry)
      entry.match.catch(() => entries.peek(key) === entry && entries.delete(key))
      return entry.match
    },
  }
}
