import { LRUCache } from 'lru-cache'
import type { Block } from './positions.ts'

/** The records of a list that match a filter. */
export type Match = {
  total: number
  /** Number of matches per range of positions, newest first. */
  blocks: readonly Block[]
  /** Positions of the newest matches, newest first. */
  positions: readonly number[]
}

/**
 * Caches the matches of filters until their list changes, so that paging through a filtered list scans it once. Only for
 * lists whose writers all take, release or invalidate positions.
 */
export type MatchMemory = {
  /** @param changes `Positions.changes()` of the list, read before `find` starts */
  recall(key: string, changes: number, find: () => Promise<Match>): Promise<Match>
}

/** Creates a cache of at most `maxEntries` filters. */
export function createMatchMemory({ maxEntries = 1000 } = {}): MatchMemory {
  const entries = new LRUCache<string, { changes: number; match: Promise<Match> }>({ max: maxEntries })
  return {
    recall(key, changes, find) {
      const known = entries.get(key)
      if (known?.changes === changes) return known.match
      const entry = { changes, match: find() }
      entries.set(key, entry)
      entry.match.catch(() => entries.peek(key) === entry && entries.delete(key))
      return entry.match
    },
  }
}
