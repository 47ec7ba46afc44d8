import type { BulkJobStarted } from '@rollcall/protos/gen/audience-v1.ts'
import type { Call } from '@rollcall/rpc'
import { noResult } from '../bulk/bulk-job.model.ts'
import { startJob } from '../bulk/start-job.ts'
import type { Context } from '../context.ts'

/** Starts the job that erases a contact. @throws {AppError} contact.not_found */
export async function eraseContact(context: Context, id: string, call: Call): Promise<BulkJobStarted> {
  const { _id } = await context.collections.of(call.caller.organizationId).contacts.get(id, 'contact')
  const services = Object.keys(context.erasers).map(service => ({
    service,
    state: 'waiting' as const,
    records: 0,
    erasedAt: null,
  }))
  const result = { ...structuredClone(noResult), matched: 1, services }
  return startJob(context, { kind: 'erase', dryRun: false, values: [String(_id)], result }, call)
}
