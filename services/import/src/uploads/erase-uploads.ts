import type { Person } from '@rollcall/service'
import type { Context } from '../context.ts'
import { unfinished } from '../imports/import.model.ts'
import { type Interrupted, interruptReaders, untilSuperseded } from '../imports/interrupt-readers.ts'
import { type EraseOptions, eraseRows, type StoredFile } from './erase-rows.ts'

/**
 * Erases the rows of a person in all files. Returns their number.
 *
 * A worker holds a piece of the file in memory, and would create the contact from it after the erasure: it loses the job
 * together with the row, and reads the file again. Until its batches can change nothing any more the erasure is unfinished,
 * and the audience refuses the rows of the person.
 */
export async function eraseUploads(context: Context, person: Person): Promise<number> {
  const { store, limits, batchTimeoutMs } = context
  const collections = context.collections.of(person.organizationId)
  const interrupted = new Map<string, Interrupted>()
  let erased = 0
  for (const file of await storedFiles(context, person)) {
    const commit: EraseOptions['commit'] = async change => {
      const jobs = await store.transaction(async tx => {
        const readers = await interruptReaders(collections, file.upload, tx)
        await change(tx)
        return readers
      })
      for (const job of jobs) interrupted.set(String(job._id), job)
    }
    erased += await eraseRows(collections.chunks, file, person, { limits, commit })
  }
  await untilSuperseded(collections, [...interrupted.values()], batchTimeoutMs)
  return erased
}

async function storedFiles({ collections }: Context, { organizationId }: Person): Promise<StoredFile[]> {
  const { uploads, imports } = collections.of(organizationId)
  const files = new Map<string, StoredFile>()
  for (const { _id, format } of await uploads.find({})) files.set(String(_id), { upload: _id, format })
  for (const { upload, format } of await imports.find({ state: { $in: unfinished } }))
    files.set(String(upload), { upload, format })
  return [...files.values()]
}
