import { type Draft, requireRoom } from '@rollcall/store'
import type { ClientSession } from 'mongoose'
import type { Tenant } from '../collections.ts'
import type { Context } from '../context.ts'
import { type Import, unfinished } from './import.model.ts'

const RETRY_AFTER_SECONDS = 10

/**
 * Stores a job in a transaction, if the quota of unfinished jobs allows it.
 * @throws {AppError} quota.too_many_pending
 */
export async function insertJob(
  { quotas }: Context,
  { imports }: Tenant,
  job: Draft<Import>,
  tx: ClientSession,
): Promise<Import> {
  const limit = quotas.unfinishedJobs
  const of = { state: { $in: unfinished } }
  const quota = { limit, what: 'unfinished imports per organization', of, retryAfterSeconds: RETRY_AFTER_SECONDS }
  await requireRoom(imports, quota, tx)
  return imports.insertOne(job, { tx })
}
