import { type Draft, requireRoom } from '@rollcall/store'
import type { ClientSession } from 'mongoose'
import type { Collections, Context } from '../context.ts'
import type { Import } from './import.model.ts'
import { unfinished } from './turn.ts'

const retryAfterSeconds = 10

/**
 * Stores a job, in a transaction, where its organization may have one more that is unfinished.
 * @throws {AppError} too_many_pending
 */
export async function insertJob(
  { quotas }: Context,
  { imports }: Collections,
  job: Draft<Import>,
  session: ClientSession,
): Promise<Import> {
  const limit = quotas.unfinishedJobs
  const of = { state: { $in: unfinished } }
  await requireRoom(imports, { limit, what: 'unfinished imports per organization', of, retryAfterSeconds }, session)
  return imports.insertOne(job, { session })
}
