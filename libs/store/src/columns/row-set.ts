import { GROUP_ROWS, groupOf, rowOf, startOf } from './row-group.model.ts'

/** A set of positions, a bit for each of them. */
export type RowSet = {
  add(positions: readonly number[]): void
  /** Adds the rows that have an outcome, after the position `start`, which is that before a group. */
  addRows(start: number, outcomes: Uint8Array, wanted: number): void
  /** Number of positions in each range of `size` positions that has some, newest first; `size` divides that of a group. */
  counts(size: number): { low: number; high: number; count: number }[]
  /** The highest positions, descending. */
  highest(limit: number): number[]
}

const GROUP_BYTES = GROUP_ROWS / 8
const ONES = Uint8Array.from({ length: 256 }, (_, byte) => [...byte.toString(2)].filter(bit => bit === '1').length)

/** Creates an empty set. */
export function createRowSet(): RowSet {
  const groups = new Map<number, Uint8Array>()

  const bitsOf = (group: number): Uint8Array => {
    const bits = groups.get(group) ?? new Uint8Array(GROUP_BYTES)
    groups.set(group, bits)
    return bits
  }
  const newestFirst = () => [...groups].sort(([a], [b]) => b - a)

  return {
    add(positions) {
      for (const position of positions) {
        const row = rowOf(position)
        bitsOf(groupOf(position))[row >> 3]! |= 1 << (row & 7)
      }
    },
    addRows(start, outcomes, wanted) {
      if (!outcomes.includes(wanted)) return
      const bits = bitsOf(groupOf(start + 1))
      for (let row = 0; row < outcomes.length; row += 8) {
        let byte = 0
        for (let bit = 0; bit < 8; bit++) if (outcomes[row + bit] === wanted) byte |= 1 << bit
        bits[row >> 3]! |= byte
      }
    },
    counts(size) {
      const bytes = size / 8
      const ranges = []
      for (const [group, bits] of newestFirst())
        for (let from = GROUP_BYTES - bytes; from >= 0; from -= bytes) {
          let count = 0
          for (let at = from; at < from + bytes; at++) count += ONES[bits[at]!]!
          const low = startOf(group) + from * 8 + 1
          if (count > 0) ranges.push({ low, high: low + size - 1, count })
        }
      return ranges
    },
    highest(limit) {
      const found: number[] = []
      for (const [group, bits] of newestFirst())
        for (let row = GROUP_ROWS - 1; row >= 0; row--) {
          if (bits[row >> 3]! & (1 << (row & 7))) found.push(startOf(group) + row + 1)
          if (found.length === limit) return found
        }
      return found
    },
  }
}
