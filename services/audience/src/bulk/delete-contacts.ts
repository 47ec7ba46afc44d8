import { addEvents, insertOf } from '@rollcall/store'
import { type ClientSession, Types } from 'mongoose'
import { type Contact, contactPositions } from '../contacts/contact.model.ts'
import { deletedEvent } from '../contacts/contact-events.ts'
import { deleteContacts } from '../contacts/delete-contact.ts'
import type { Data } from '../context.ts'
import type { StepResult } from './bulk.job.ts'
import type { BulkJob } from './bulk-job.model.ts'
import { type BulkTrace, traceExpiry } from './bulk-trace.model.ts'

/**
 * Deletes contacts in a transaction. Keeps them, their memberships, history and emails as long as an undo is possible;
 * without the contact, history and emails cannot be reached.
 */
export async function deleteFound(
  data: Data,
  tx: ClientSession,
  { _id: job, organization, origin, result }: BulkJob,
  found: readonly Contact[],
): Promise<StepResult> {
  if (found.length === 0) return { changed: 0, failed: 0, errors: [], sample: [] }
  const organizationId = String(organization)
  const { bulkTraces, memberships } = data.collections.of(organization)
  await contactPositions(data, organizationId).lockMembership(tx)
  const joined = await memberships.find({ contact: { $in: found.map(({ _id }) => _id) } }, { tx })
  const membershipsOf = Map.groupBy(joined, ({ contact }) => String(contact))
  const expiresAt = traceExpiry()
  const traces = found.map(
    (contact, index): BulkTrace => ({
      _id: new Types.ObjectId(),
      organization,
      job,
      number: result.changed + index + 1,
      contact: contact._id,
      changes: [],
      joined: [],
      left: [],
      deleted: { contact, memberships: membershipsOf.get(String(contact._id)) ?? [] },
      expiresAt,
    }),
  )
  await bulkTraces.bulkWrite(traces.map(insertOf), { tx })
  await deleteContacts(data, tx, organizationId, found, { historyUntil: expiresAt })
  const at = new Date()
  await addEvents(
    tx,
    found.map(contact => deletedEvent(contact, origin, at)),
  )
  return { changed: found.length, failed: 0, errors: [], sample: [] }
}

/** Returns what a deletion would do to contacts. */
export async function previewDeletion(found: readonly Contact[]): Promise<StepResult> {
  const changes = [{ field: 'deleted', from: false, to: true }]
  const sample = found.slice(0, 20).map(({ _id }) => ({ contact: String(_id), changes }))
  return { changed: found.length, failed: 0, errors: [], sample }
}
