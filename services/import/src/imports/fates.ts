/** What is known of a row before the first batch: no more; that it shares its email; that it loses; that it was refused. */
export type Fate = 'open' | 'rival' | 'loser' | 'refused'

const fates: readonly Fate[] = ['open', 'rival', 'loser', 'refused']

/** The fates of a file's rows (from 1) in two bits each: a million of them fit into the record of a job. */
export class Fates {
  readonly bytes: Uint8Array

  /** @param bytes of an earlier look; or how many rows there are, all of them open */
  constructor(bytes: Uint8Array | number) {
    this.bytes = typeof bytes === 'number' ? new Uint8Array((bytes >> 2) + 1) : bytes
  }

  of(row: number): Fate {
    return fates[(this.bytes[row >> 2]! >> shiftOf(row)) & 3]!
  }

  set(row: number, fate: Fate): void {
    const others = this.bytes[row >> 2]! & ~(3 << shiftOf(row))
    this.bytes[row >> 2] = others | (fates.indexOf(fate) << shiftOf(row))
  }
}

function shiftOf(row: number): number {
  return (row & 3) * 2
}
