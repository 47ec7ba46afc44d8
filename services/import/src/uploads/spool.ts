import { insertOf, type Scope } from '@rollcall/store'
import { mongo, Types } from 'mongoose'
import type { Tenant } from '../collections.ts'
import type { Import } from '../imports/import.model.ts'
import { CHUNK_BYTES, type Chunk } from './upload.model.ts'

/**
 * Passes bytes on and stores them in the database, where every replica can read them. Holds one chunk in memory at a time.
 * The stored file is complete when the iteration ends.
 */
export async function* storeWhilePassing(
  chunks: Scope<Chunk>,
  upload: Types.ObjectId,
  purgeAt: Date,
  source: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  let waiting: Buffer[] = []
  let size = 0
  let number = 0
  const store = async (data: Buffer) => {
    const document = { _id: new Types.ObjectId(), upload, number: number++, data: new mongo.Binary(data), purgeAt }
    await chunks.bulkWrite([insertOf(document)])
  }
  for await (const piece of source) {
    waiting.push(piece)
    size += piece.length
    while (size >= CHUNK_BYTES) {
      const bytes = Buffer.concat(waiting)
      await store(bytes.subarray(0, CHUNK_BYTES))
      waiting = [bytes.subarray(CHUNK_BYTES)]
      size -= CHUNK_BYTES
    }
    yield piece
  }
  if (size > 0) await store(Buffer.concat(waiting))
}

/** Deletes the file of an import that has ended. Dry runs leave it to the import, and an undo has none. */
export async function dropFile({ chunks, uploads }: Tenant, { kind, upload }: Import): Promise<void> {
  if (kind !== 'import') return
  await chunks.deleteMany({ upload })
  await uploads.deleteOne({ _id: upload })
}

/** Streams the bytes of a stored upload from an offset. */
export async function* readStored(chunks: Scope<Chunk>, upload: Types.ObjectId, offset = 0): AsyncGenerator<Buffer> {
  let skip = offset % CHUNK_BYTES
  for (let number = Math.floor(offset / CHUNK_BYTES); ; number++) {
    const chunk = await chunks.findOne({ upload, number })
    if (!chunk) return
    const data = Buffer.from(chunk.data.buffer)
    if (skip < data.length) yield data.subarray(skip)
    skip = 0
    if (data.length < CHUNK_BYTES) return
  }
}
