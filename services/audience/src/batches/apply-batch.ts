import { emailKeyOf } from '@rollcall/contract'
import { readEmail } from '@rollcall/csv'
import type { ApplyBatchRequest, ApplyBatchRequestRow, ApplyBatchResponse } from '@rollcall/protos/gen/audience-v1.ts'
import type { Actor, Call } from '@rollcall/rpc'
import { retry } from '@rollcall/runtime'
import {
  addEvents,
  insertOf,
  isDuplicate,
  type OutgoingEvent,
  objectId,
  type Positions,
  type Scope,
  untilAllReleased,
} from '@rollcall/store'
import type { ClientSession, Types } from 'mongoose'
import { readDefinitions } from '../attributes/definitions.ts'
import { applyUpdate, type ContactUpdate, updateOf } from '../contacts/changes.ts'
import { type Contact, contactPositions, placed, untouched } from '../contacts/contact.model.ts'
import { unsubscribedEvent } from '../contacts/contact-events.ts'
import { confirmOptOuts } from '../contacts/opt-outs.ts'
import type { Adding } from '../context.ts'
import { countChanges } from '../growth/count-changes.ts'
import { changeEntry } from '../history/history.model.ts'
import type { AudienceList } from '../lists/list.model.ts'
import { listQueue } from '../lists/list-counts.ts'
import { addMembers, writeMemberships } from '../lists/members.ts'
import type { Membership } from '../lists/membership.model.ts'
import { refuseErased } from '../people/being-erased.ts'
import { applyOptOuts } from '../people/erased-addresses.ts'
import {
  type Batch,
  hasRowsLeft,
  newBatch,
  outcomesOf,
  type Part,
  rowsLeft,
  withPart,
  withRowsSent,
} from './batch.model.ts'
import { cancelBatch } from './cancel-batch.ts'
import { checkBatch, type Plan, planBatch } from './plan-batch.ts'

/** Rows that one transaction applies while other writers of the organization wait. */
const PART_ROWS = 250

/**
 * Applies a batch of an import once. Contacts, positions, history and the batch's record are one transaction, so a crash
 * leaves all of it or nothing. A concurrent write of the same contacts conflicts: the transaction is retried, and plans the
 * rows again.
 *
 * While others wait for the positions of the contacts, the rows are applied in parts, each a transaction. The record says
 * which rows are applied, so a batch that is sent again continues there, with the rows that are sent then.
 */
export async function applyBatch(context: Adding, request: ApplyBatchRequest, call: Call): Promise<ApplyBatchResponse> {
  const { deadline, caller } = call
  const positions = contactPositions(context, caller.organizationId)
  const queue = [caller.organizationId, ...request.listIds.map(listQueue)] // all batches write the positions of the contacts
  let batch: Batch
  do {
    const isSplit = request.rows.length > PART_ROWS && (await positions.isAwaited())
    const maxRows = isSplit ? PART_ROWS : request.rows.length
    const applyInTransaction = () =>
      context.store.transaction(tx => apply(context, tx, request, maxRows, call), {
        timeoutMs: deadline - Date.now(),
        queue,
      })
    batch = await retry(applyInTransaction, { deadline, retryable: isDuplicate })
  } while (hasRowsLeft(batch))
  const { optOutsKept, joined } = batch
  const sent = numbersOf(request)
  const outcomes = outcomesOf(batch, sent)
  const isSent = new Set(sent)
  const failures = sent.length > 0 ? batch.failures.filter(({ row }) => isSent.has(row)) : batch.failures
  const isOptOut = request.rows.some(({ unsubscribed }, index) => unsubscribed && outcomes[index] === 'UPDATED')
  if (isOptOut) await untilAllReleased(context.collections.of(caller.organizationId).holds)
  return { outcomes, optOutsKept, failures, addedToLists: joined.length, previews: [] }
}

function numbersOf({ rows }: ApplyBatchRequest): number[] {
  return rows.map(({ row }) => row)
}

/** Applies the next rows of a batch. Returns its record. */
async function apply(
  context: Adding,
  tx: ClientSession,
  request: ApplyBatchRequest,
  maxRows: number,
  { caller }: Call,
): Promise<Batch> {
  const { batches } = context.collections.of(caller.organizationId)
  const job = objectId(request.jobId, 'jobId')
  const { number } = request
  // First: a conflict with a batch of another replica shows here, not when the work is done.
  await contactPositions(context, caller.organizationId).lockMembership(tx)
  const sent = numbersOf(request)
  const stored = await batches.findOne({ job, number }, { tx })
  const found = stored && { ...stored, rows: stored.rows ?? sent } // a former release stored no numbers
  if (found && !hasRowsLeft(found)) return found
  if (request.settle && !found) return cancelBatch(batches, tx, job, number)
  const batch = found
    ? withRowsSent(found, request.settle ? [] : sent)
    : newBatch({ organization: batches.organization, job, number }, sent)
  const after = hasRowsLeft(batch) ? await withNextRows(context, tx, request, batch, maxRows) : batch
  const replacement = { replaceOne: { filter: { _id: batch._id }, replacement: after } }
  await batches.bulkWrite([found ? replacement : insertOf(after)], { tx })
  return after
}

async function withNextRows(
  context: Adding,
  tx: ClientSession,
  request: ApplyBatchRequest,
  batch: Batch,
  maxRows: number,
): Promise<Batch> {
  const next = { ...request, rows: nextRows(request, batch, maxRows) }
  return withPart(batch, numbersOf(next), await applyRows(context, tx, next, batch))
}

/** Returns the next rows to apply, with all rows of the same emails: only one of them is used. */
function nextRows({ rows }: ApplyBatchRequest, batch: Batch, maxRows: number): ApplyBatchRequestRow[] {
  const isLeft = rowsLeft(batch)
  const left = rows.filter(({ row }) => isLeft.has(row))
  if (left.length <= maxRows) return left
  const keyOf = ({ email }: ApplyBatchRequestRow) => emailKeyOf(readEmail(email).value ?? '')
  const emails = new Set(left.slice(0, maxRows).map(keyOf))
  return left.filter(row => emails.has(keyOf(row)))
}

async function applyRows(
  context: Adding,
  tx: ClientSession,
  request: ApplyBatchRequest,
  { organization, job }: Batch,
): Promise<Part> {
  const tenant = context.collections.of(organization)
  const { contacts, attributes, history, lists } = tenant
  const positions = contactPositions(context, organization)
  const checked = await refuseErased(tenant, checkBatch(request, await readDefinitions(attributes, tx)), tx)
  const emailKeys = [...checked.candidates.keys()]
  const plan = planBatch(checked, await findKnown(contacts, emailKeys, tx))
  await applyOptOuts(
    context,
    organization,
    plan.inserts.map(({ contact }) => contact),
    tx,
  )
  const open = await openLists(lists, request.listIds, tx)
  const { first, at } = await takePositions(positions, tx, plan.inserts.length)
  const created = newContacts(contacts.organization, plan, job, open, first, at)
  const updates = plan.updates.map(({ contact, changes }) => ({ contact, update: updateOf(contact, changes, at) }))
  const entries = importedEntries(plan, job, at)
  const changed = updates.map(({ contact, update }) => ({ before: contact, after: applyUpdate(contact, update), at }))
  // Lists first: a conflict with another change of their members shows here.
  await countChanges(tenant, [...created.map(after => ({ after, at })), ...changed], tx)
  const after = new Map(changed.map(({ before, after }) => [before, after]))
  const known = plan.known.map(contact => after.get(contact) ?? contact)
  const joined: Membership[] = []
  for (const list of open) {
    const arrival = { list, actor: importActor(job), source: 'import', at } as const
    joined.push(...(await writeMemberships(context, tx, created, arrival)))
    joined.push(...(await addMembers(context, tx, known, arrival)))
  }
  await contacts.bulkWrite([...created.map(insertOf), ...updates.map(update => writeOf(update, job))], { tx })
  await positions.invalidate(
    tx,
    updates.map(({ contact }) => contact.position),
  )
  const isOptOut = ({ emailKey }: Contact) =>
    checked.candidates.get(emailKey)?.some(({ row }) => row.unsubscribed === true) ?? false
  const ofOthers = ({ optedOutBy }: Contact) => !optedOutBy?.equals(job)
  await confirmOptOuts(contacts, plan.known.filter(isOptOut).filter(ofOthers), tx)
  await history.bulkWrite(entries.map(insertOf), { tx })
  await addEvents(tx, optOutEvents(plan, job, at))
  return {
    outcomes: plan.outcomes,
    failures: plan.failures,
    optOutsKept: plan.optOutsKept,
    created: created.map(({ _id }) => _id),
    changed: entries.map(({ _id }) => _id),
    formerJobs: plan.updates.map(({ contact }) => contact.importJob),
    joined: joined.map(({ _id }) => _id),
    at,
  }
}

/** Returns the existing contacts with the emails of a batch, by emailKey. */
export async function findKnown(contacts: Scope<Contact>, emailKeys: string[], tx?: ClientSession) {
  const known = await contacts.find({ emailKey: { $in: emailKeys } }, { tx, batchSize: emailKeys.length + 1 })
  return new Map(known.map(contact => [contact.emailKey, contact]))
}

/** Returns those of the lists that accept contacts. */
export function openLists(lists: Scope<AudienceList>, ids: readonly string[], tx?: ClientSession) {
  return ids.length > 0 ? lists.find({ _id: { $in: [...new Set(ids)] }, archived: false }, { tx }) : []
}

async function takePositions(positions: Positions, tx: ClientSession, count: number) {
  return count > 0 ? positions.take(tx, count) : { first: 0, at: new Date() }
}

/** Returns the new contacts. Their history entries are written when first read: a million of them would double the work. */
function newContacts(
  organization: Types.ObjectId,
  { inserts }: Plan,
  job: Types.ObjectId,
  open: readonly AudienceList[],
  first: number,
  at: Date,
): Contact[] {
  const origin = { ...untouched, source: 'import', importJob: job, createdBy: importActor(job) } as const
  const lists = open.length > 0 && { lists: open.map(({ _id }) => _id) }
  return inserts.map(({ contact }, index) =>
    placed(organization, { ...origin, ...contact, ...lists, ...optOutOf(contact, job) }, first + index, at),
  )
}

/** Writes changed fields only, never whole documents. */
function writeOf({ contact, update }: { contact: Contact; update: ContactUpdate }, job: Types.ObjectId) {
  const { $set, ...rest } = update
  const set = { ...$set, importJob: job, ...optOutOf($set, job) }
  return { updateOne: { filter: { _id: contact._id }, update: { ...rest, $set: set } } }
}

/** Marks an opt-out as the import's own, so that undoing the import can revert it. */
function optOutOf({ unsubscribed }: { unsubscribed?: unknown }, job: Types.ObjectId) {
  return unsubscribed ? { optedOutBy: job } : {}
}

/** Returns the events of known contacts that the rows opt out. A new contact has only that of its creation. */
function optOutEvents({ updates }: Plan, job: Types.ObjectId, at: Date): OutgoingEvent[] {
  const optedOut = updates.filter(({ changes }) => changes.some(({ key, to }) => key === 'unsubscribed' && to === true))
  return optedOut.map(({ contact }) => unsubscribedEvent(contact, { how: 'import' }, importActor(job), at))
}

function importedEntries({ updates }: Plan, job: Types.ObjectId, at: Date) {
  const actor = importActor(job)
  return updates.map(({ row, contact, changes }) =>
    changeEntry(contact, 'contact.imported', at, actor, { changes, importJob: job, row }),
  )
}

/** Returns the actor of the records that an import creates. */
export function importActor(job: Types.ObjectId): Actor {
  return { kind: 'import', id: String(job), name: 'CSV import' }
}
