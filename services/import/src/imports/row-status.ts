/**
 * The status of a row before the first batch: `duplicate`, other rows have its email; `superseded`, one of them replaces it;
 * `rejected`, the audience does not accept it.
 */
export type RowStatus = 'unknown' | 'duplicate' | 'superseded' | 'rejected'

const statuses: readonly RowStatus[] = ['unknown', 'duplicate', 'superseded', 'rejected']

/** The status of each row of a file (from 1), in two bits: a million rows fit into a job's record. */
export class RowStatuses {
  readonly bytes: Uint8Array

  /** @param bytes stored statuses; or a number of rows, all unknown */
  constructor(bytes: Uint8Array | number) {
    this.bytes = typeof bytes === 'number' ? new Uint8Array((bytes >> 2) + 1) : bytes
  }

  of(row: number): RowStatus {
    return statuses[(this.bytes[row >> 2]! >> shiftOf(row)) & 3]!
  }

  set(row: number, status: RowStatus): void {
    const others = this.bytes[row >> 2]! & ~(3 << shiftOf(row))
    this.bytes[row >> 2] = others | (statuses.indexOf(status) << shiftOf(row))
  }
}

function shiftOf(row: number): number {
  return (row & 3) * 2
}
