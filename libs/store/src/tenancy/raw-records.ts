import type { mongo } from 'mongoose'
import { findField, int32At } from '../positions/bson-fields.ts'
import { isRetryableRead, translateErrors } from './errors.ts'

/** Records in BSON: the buffer that an answer of the database came in, and where in it each record begins. */
export type RawRecords = { bytes: Buffer; starts: number[] }

/** More documents than a reply can hold: the server ends it at 16 MiB. */
const WHOLE_REPLY = 1_000_000

/** A `find` or `aggregate` command with the time limit of the server. */
export type ReadCommand = { find: string; filter: object } | { aggregate: string; pipeline: object[] }

/**
 * Reads what a command finds as one reply, without a copy or an object per document; undefined if one reply cannot hold
 * it. A read that loses its server is retried once, as the driver does for its cursors.
 */
export async function readReply(
  db: mongo.Db,
  command: ReadCommand,
  { maxTimeMS, ...options }: { maxTimeMS: number; session?: mongo.ClientSession },
): Promise<RawRecords | undefined> {
  const size = 'find' in command ? { batchSize: WHOLE_REPLY } : { cursor: { batchSize: WHOLE_REPLY } }
  const read = () => db.command({ ...command, ...size, maxTimeMS }, { ...options, raw: true })
  const again = (error: unknown) => {
    if (isRetryableRead(error) && !options.session?.inTransaction()) return read()
    throw error
  }
  const reply = await translateErrors(read().catch(again))
  const { records, id } = batchIn(reply.cursor as Uint8Array)
  if (id === 0n) return records
  const collection = 'find' in command ? command.find : command.aggregate
  await db.command({ killCursors: collection, cursors: [id] }, options).catch(() => undefined)
  return undefined
}

/** Copies documents, each in a buffer of its own, into one. */
export function joined(documents: readonly Uint8Array[]): RawRecords {
  let end = 0
  const starts = documents.map(({ byteLength }) => {
    end += byteLength
    return end - byteLength
  })
  return { bytes: Buffer.concat(documents, end), starts }
}

/** Returns the document that begins at `start`. */
export function documentAt(bytes: Buffer, start: number): Buffer {
  return bytes.subarray(start, start + int32At(bytes, start))
}

/** Reads the cursor of a reply: `{firstBatch: [documents], id: int64, ns: text}`, in any order. */
function batchIn(cursor: Uint8Array): { records: RawRecords; id: bigint } {
  const bytes = Buffer.from(cursor.buffer, cursor.byteOffset, cursor.byteLength)
  const batch = findField(bytes, 0, 'firstBatch')
  const id = findField(bytes, 0, 'id')
  if (batch < 0 || id < 0) throw new Error('a reply without a cursor')
  return { records: { bytes, starts: documentsOf(bytes, batch) }, id: bytes.readBigInt64LE(id) }
}

/** Returns where the documents of an array begin. */
function documentsOf(bytes: Buffer, array: number): number[] {
  const starts: number[] = []
  const end = array + int32At(bytes, array) - 1
  for (let at = array + 4; at < end; ) {
    while (bytes[at] !== 0) at++ // the type, which is not 0, and the index as text
    at++
    starts.push(at)
    at += int32At(bytes, at)
  }
  return starts
}
