import { AppError } from '@rollcall/contract'
import { isDuplicate } from '@rollcall/store'
import { type Model, Types } from 'mongoose'

type Revised = { _id: string; revision: Types.ObjectId; expiresAt: Date }
/** What a record holds besides its id and revision. */
export type Content<R extends Revised> = Omit<R, '_id' | 'revision'>

const MAX_ATTEMPTS = 100

/**
 * Changes a record by what `decide` makes of what it holds now (null: there is none, or it has expired), as if nobody
 * else changed it meanwhile. Answers false, and changes nothing, where `decide` answers undefined.
 */
export async function changeAlone<R extends Revised>(
  model: Model<R>,
  _id: string,
  decide: (content: Content<R> | null, now: Date) => Content<R> | undefined,
): Promise<boolean> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const now = new Date()
    const found = (await model.collection.findOne({ _id } as never)) as R | null
    const decided = decide(found && found.expiresAt > now ? found : null, now)
    if (!decided) return false
    if (await store(model, { ...decided, _id, revision: new Types.ObjectId() }, found?.revision)) return true
  }
  throw new AppError('service.unavailable', {}, { cause: new Error('a record changes all the time') })
}

/** Stores a record in the place of a revision, or as a new one; false where another change came first. */
async function store<R extends Revised>(
  { collection }: Model<R>,
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
