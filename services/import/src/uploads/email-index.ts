import { emailOf } from '@rollcall/contract'
import { type Row, unguard } from '@rollcall/csv'

const INITIAL_SLOTS = 1 << 14

/**
 * The latest row of each email, in 24 bytes a row, so that finding duplicates among a million rows takes little memory.
 * Emails are stored as 64-bit hashes: the probability of a collision among a million of them is below 3 in 10⁸.
 */
export class EmailIndex {
  readonly #seed = (Math.random() * 2 ** 32) >>> 0
  #high = new Uint32Array(INITIAL_SLOTS)
  #low = new Uint32Array(INITIAL_SLOTS)
  #rows = new Uint32Array(INITIAL_SLOTS)
  #size = 0

  /** Records the row (from 1) as the latest of an email's key. @returns the row before it, or 0 */
  record(key: string, row: number): number {
    if (this.#size * 2 >= this.#rows.length) this.#grow()
    const [high, low] = hash(key, this.#seed)
    const slot = this.#slotOf(high, low)
    const before = this.#rows[slot]!
    if (before === 0) {
      this.#high[slot] = high
      this.#low[slot] = low
      this.#size++
    }
    this.#rows[slot] = row
    return before
  }

  /** Open addressing: the slot that holds the hash, or the free one where it belongs. */
  #slotOf(high: number, low: number): number {
    const mask = this.#rows.length - 1
    let slot = low & mask
    while (this.#rows[slot] !== 0 && (this.#low[slot] !== low || this.#high[slot] !== high)) slot = (slot + 1) & mask
    return slot
  }

  #grow(): void {
    const [highs, lows, rows] = [this.#high, this.#low, this.#rows]
    const slots = rows.length * 2
    this.#high = new Uint32Array(slots)
    this.#low = new Uint32Array(slots)
    this.#rows = new Uint32Array(slots)
    for (const [index, row] of rows.entries()) {
      if (row === 0) continue
      const slot = this.#slotOf(highs[index]!, lows[index]!)
      this.#high[slot] = highs[index]!
      this.#low[slot] = lows[index]!
      this.#rows[slot] = row
    }
  }
}

/** Records the email of a row. @returns the row that had it before; 0 for none, and for an invalid email */
export function recordEmail(emails: EmailIndex, { row, cells }: Row, column: number): number {
  const email = emailOf(unguard(cells[column] ?? ''))
  return email === undefined ? 0 : emails.record(email.key, row)
}

/** Two 32-bit multiplicative hashes that feed each other. Seeded, so that nobody can choose colliding emails. */
function hash(text: string, seed: number): [high: number, low: number] {
  let high = 0xdeadbeef ^ seed
  let low = 0x41c6ce57 ^ Math.imul(seed, 0x9e3779b1)
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    high = Math.imul(high ^ code, 0x9e3779b1)
    low = Math.imul(low ^ code, 0x5f356495)
    high = (high << 13) | (high >>> 19)
  }
  high = Math.imul(high ^ (low >>> 15), 0x85ebca6b)
  low = Math.imul(low ^ (high >>> 13), 0xc2b2ae35)
  return [high >>> 0, low >>> 0]
}
