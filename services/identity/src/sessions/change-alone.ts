import { AppError } from '@rollcall/contract'
import { isDuplicate, READ_MS, type Unscoped } from '@rollcall/store'
import { Types } from 'mongoose'

type Revised = { _id: string; revision: Types.ObjectId; expiresAt: Date }
/** Fields of a record without id and revision. */
export type Content<R extends Revised> = Omit<R, '_id' | 'revision'>

const MAX_ATTEMPTS = 100

/**
 * Updates a record with optimistic locking: `decide` maps the current content to the new one and is retried on
 * conflicts. It receives null if the record is missing or expired. Returns false, without a change, if `decide` returns
 * undefined.
 */
export async function changeAlone<R extends Revised>(
  model: Unscoped<R>,
  _id: string,
  decide: (content: Content<R> | null, now: Date) => Content<R> | undefined,
): Promise<boolean> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const now = new Date()
    const found = (await model.collection.findOne({ _id } as never, { maxTimeMS: READ_MS })) as R | null
    const decided = decide(found && found.expiresAt > now ? found : null, now)
    if (!decided) return false
    if (await store(model, { ...decided, _id, revision: new Types.ObjectId() }, found?.revision)) return true
  }
  throw new AppError('service.unavailable', {}, { cause: new Error('a record changes all the time') })
}

/** Replaces a revision of a record, or inserts it; returns false on a conflict. */
async function store<R extends Revised>(
  { collection }: Unscoped<R>,
  record: Revised,
  replaced: Types.ObjectId | undefined,
): Promise<boolean> {
  const { _id } = record
  if (replaced) return (await collection.replaceOne({ _id, revision: replaced } as never, record)).matchedCount === 1
  try {
    await collection.insertOne(record as never)
    return true
  } catch (error) {
    if (isDuplicate(error)) return false
    throw error
  }
}
