import { int32At } from '../positions/bson-fields.ts'
import { documentAt, type RawRecords } from '../tenancy/raw-records.ts'
import { MOST_PER_BYTE } from './write-bytes.ts'

/** Writes a record from BSON in another format. */
export type RecordWriter = {
  /**
   * Writes the record that begins at `start` into `target` from `at` on, at most six bytes for each of the record and 64
   * KiB. Returns where it stopped; -1 if the record has values that it cannot write.
   */
  write(target: Buffer, at: number, bytes: Buffer, start: number): number
  /** Returns the same for any record, also for a large one. */
  convert(document: Buffer): Buffer
}

/** A chunk is complete from this size on. */
const CHUNK_BYTES = 64 * 1024
const MOST_RECORD_BYTES = 64 * 1024
const FIXED_BYTES = 64 * 1024

/** Used up to the next `yield` only, so that all streams can share it. */
const scratch = Buffer.allocUnsafeSlow(CHUNK_BYTES + MOST_PER_BYTE * MOST_RECORD_BYTES + FIXED_BYTES)

/** Yields records as a writer writes them, in chunks of about 64 KiB. */
export function* recordChunks({ bytes, starts }: RawRecords, writer: RecordWriter): Generator<Buffer> {
  let at = 0
  for (const start of starts) {
    const end = int32At(bytes, start) > MOST_RECORD_BYTES ? -1 : writer.write(scratch, at, bytes, start)
    if (end < CHUNK_BYTES && end >= 0) {
      at = end
      continue
    }
    const whole = end < 0 ? writer.convert(documentAt(bytes, start)) : undefined
    if (end >= 0) at = end
    if (at > 0) yield Buffer.from(scratch.subarray(0, at))
    at = 0
    if (whole) yield whole
  }
  if (at > 0) yield Buffer.from(scratch.subarray(0, at))
}
