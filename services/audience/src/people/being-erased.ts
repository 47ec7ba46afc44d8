import type { ApplyBatchResponseFailure as Failure } from '@rollcall/protos/gen/audience-v1.ts'
import type { ClientSession } from 'mongoose'
import type { CheckedBatch } from '../batches/plan-batch.ts'
import { unfinished } from '../bulk/bulk-job.model.ts'
import type { Tenant } from '../collections.ts'

/** Code of a row whose contact is being erased. The import service stores nothing of such a row. */
const ERASED = 'erased'

/**
 * Fails the rows of contacts whose erasure is not finished. An import can still send them: it has read them before its file
 * was erased, or it started between two rounds.
 *
 * A transaction that has locked the membership misses no erasure: a job holds the addresses from the request to its end, and
 * the step that deletes the contact takes the same lock. The failures hold nothing of the row, since they can be stored
 * after the last round.
 */
export async function refuseErased(
  { bulkJobs }: Pick<Tenant, 'bulkJobs'>,
  checked: CheckedBatch,
  tx: ClientSession,
): Promise<CheckedBatch> {
  const erased = await keysBeingErased(bulkJobs, tx)
  const refused = [...checked.candidates].filter(([emailKey]) => erased.has(emailKey)).flatMap(([, rows]) => rows)
  if (refused.length === 0) return checked
  const outcomes = [...checked.outcomes]
  for (const { index } of refused) outcomes[index] = 'FAILED'
  const candidates = new Map([...checked.candidates].filter(([emailKey]) => !erased.has(emailKey)))
  const failures = [...checked.failures, ...refused.map(({ row }) => failureOf(row.row))]
  return { ...checked, candidates, outcomes, failures }
}

async function keysBeingErased(bulkJobs: Tenant['bulkJobs'], tx: ClientSession): Promise<Set<string>> {
  const projection = { 'identity.emailKeys': 1, 'erasure.person.emailKeys': 1 } as const
  const jobs = await bulkJobs.find({ kind: 'erase', state: { $in: unfinished } }, { tx, projection })
  return new Set(
    jobs.flatMap(({ identity, erasure }) => (erasure ? erasure.person.emailKeys : identity?.emailKeys) ?? []),
  )
}

function failureOf(row: number): Failure {
  return { row, field: 'email', value: '', code: ERASED, message: 'the contact is being erased' }
}
