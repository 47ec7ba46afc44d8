import { insertOf, isDuplicate, type Scope } from '@rollcall/store'
import type { mongo } from 'mongoose'

const DUPLICATE_KEY = 11000

/** Inserts documents, except those that exist. Returns how many are new. */
export async function insertNew<T>(scope: Scope<T>, documents: readonly object[]): Promise<number> {
  try {
    return (await scope.bulkWrite(documents.map(insertOf)))?.insertedCount ?? 0
  } catch (error) {
    const { writeErrors, result } = (error as Error).cause as mongo.MongoBulkWriteError
    if (!isDuplicate(error) || [writeErrors].flat().some(({ code }) => code !== DUPLICATE_KEY)) throw error
    return result.insertedCount
  }
}
