import type { BulkJobStarted } from '@rollcall/protos/gen/audience-v1.ts'
import type { Call } from '@rollcall/rpc'
import { noResult } from '../bulk/bulk-job.model.ts'
import { insertJob } from '../bulk/start-job.ts'
import type { Context } from '../context.ts'
import { identityOf } from './identity-of.ts'

/**
 * Starts the job that erases a contact, also if that is deleted before the first step.
 * @throws {AppError} contact.not_found
 */
export async function eraseContact(context: Context, id: string, call: Call): Promise<BulkJobStarted> {
  const { organizationId } = call.caller
  const services = Object.keys(context.erasers).map(service => ({
    service,
    state: 'waiting' as const,
    records: 0,
    erasedAt: null,
  }))
  const result = { ...structuredClone(noResult), matched: 1, services }
  const job = await context.store.transaction(
    async tx => {
      const contact = await context.collections.of(organizationId).contacts.get(id, 'contact', { tx })
      const draft = { values: [String(contact._id)], identity: await identityOf(context, contact, tx), result }
      return insertJob(context, { ...draft, kind: 'erase', dryRun: false }, call, tx)
    },
    { queue: `bulk jobs of ${organizationId}` },
  )
  context.bulkJob.wake(job)
  return { jobId: String(job._id) }
}
