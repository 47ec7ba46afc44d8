import type { LeaseSlice, Outcome } from '@rollcall/jobs'
import { addEvents, event, untilAllReleased } from '@rollcall/store'
import { type ClientSession, Types } from 'mongoose'
import { completedEvent } from '../bulk/bulk-events.ts'
import type { BulkJob } from '../bulk/bulk-job.model.ts'
import { contactPositions } from '../contacts/contact.model.ts'
import { deleteContacts } from '../contacts/delete-contact.ts'
import type { Adding } from '../context.ts'
import { keepOptOuts } from './erased-addresses.ts'
import type { Erasers } from './erasers.ts'
import { type Identity, identityOf, withoutOthers } from './identity-of.ts'

/** What an unfinished erasure is about, after its first step. It is the only record that still names the person. */
export type Erasure = {
  person: { contactId: string; emailKeys: string[]; names: string[] }
  round: 1 | 2
  /** The services that have erased the person in this round. */
  done: string[]
  startsAt: Date
}

const ROUNDS = 2
/** Longer than a call between services takes: what was under way at the end of the first round has arrived. */
const BETWEEN_ROUNDS_MS = 3000

/**
 * Erases a contact, a slice of the bulk job at a time:
 *
 * 1. Delete the contact with its history unless somebody else has, keep a hash of an address that had opted out, and store
 * whom the other services have to erase, in one transaction.
 * 2. Ask every service to erase the person, by calls and not by events: a topic would keep the address. Services that
 * fail or are down are asked again until they have done it, so the job never fails.
 * 3. Ask them all a second time: events, batches and messages that were under way during the first round can name the
 * person. Each service first consumes what was published until then.
 * 4. Complete the job, and drop the last record that names the person.
 *
 * Until then, rows of imports that name the person fail (`being-erased.ts`), so the contact does not come back meanwhile.
 *
 * Erasing twice erases nothing else, so a slice that is repeated after a crash does no harm.
 */
export async function eraseStep(
  data: Adding,
  erasers: Erasers,
  job: BulkJob,
  { signal, fence }: LeaseSlice,
): Promise<Outcome> {
  const { organization, erasure } = job
  if (!erasure) {
    await data.store.transaction(async tx => {
      await fence(tx)
      await takePerson(data, job, tx)
    })
    return 'again'
  }
  const waitMs = erasure.startsAt.getTime() - Date.now()
  if (waitMs > 0) return waitMs
  if (erasure.round === ROUNDS) await untilAllReleased(data.collections.of(organization).holds) // mail that was under way
  const left = Object.entries(erasers).filter(([name]) => !erasure.done.includes(name))
  const person = { organizationId: String(organization), ...erasure.person }
  const outcomes = await Promise.allSettled(left.map(([, erase]) => erase(person, signal)))
  const erased = outcomes.flatMap((outcome, index) =>
    outcome.status === 'fulfilled' ? [{ service: left[index]![0], records: outcome.value }] : [],
  )
  await data.store.transaction(async tx => {
    await fence(tx)
    await saveErased(data, job, erasure, erased, Object.keys(erasers).length, tx)
  })
  const failure = outcomes.find(outcome => outcome.status === 'rejected')
  if (failure) throw failure.reason
  return 'again'
}

async function takePerson(data: Adding, job: BulkJob, tx: ClientSession): Promise<void> {
  const { organization, origin } = job
  const { contacts, bulkJobs } = data.collections.of(organization)
  const contactId = job.values[0]!
  const aggregate = { _id: new Types.ObjectId(contactId), organization }
  const contact = await contacts.findOne({ _id: contactId }, { tx })
  const before = job.identity ?? nobody
  const now = contact ? await identityOf(data, contact, tx) : before
  const emailKeys = await withoutOthers(data, aggregate, [...before.emailKeys, ...now.emailKeys], tx)
  const person = { contactId, emailKeys, names: [...new Set([...before.names, ...now.names])] }
  if (now.isOptedOut) await keepOptOuts(data, organization, emailKeys, tx)
  if (contact) {
    await contactPositions(data, organization).lockMembership(tx)
    await deleteContacts(data, tx, String(organization), [contact])
  }
  await addEvents(tx, [event('contact.erased', aggregate, { contactId, jobId: job._id, actor: origin.actor })])
  const erasure: Erasure = { person, round: 1, done: [], startsAt: new Date() }
  await bulkJobs.updateOne({ _id: job._id }, { $set: { identity: null, erasure, state: 'active' } }, { tx })
}

const nobody: Identity = { emailKeys: [], names: [], isOptedOut: false }

type Erased = { service: string; records: number }

/** Stores which services are done, and the next round or the end of the job. */
async function saveErased(
  { collections }: Pick<Adding, 'collections'>,
  job: BulkJob,
  { round, done: before, ...erasure }: Erasure,
  erased: readonly Erased[],
  count: number,
  tx: ClientSession,
): Promise<void> {
  const { bulkJobs } = collections.of(job.organization)
  const done = [...before, ...erased.map(({ service }) => service)]
  const isRoundDone = done.length === count
  const isDone = isRoundDone && round === ROUNDS
  const at = new Date()
  const services = job.result.services.map(each => {
    const own = erased.find(({ service }) => service === each.service)
    if (!own) return each
    const records = each.records + own.records
    return round === ROUNDS
      ? { ...each, records, state: 'erased' as const, erasedAt: at.toISOString() }
      : { ...each, records }
  })
  const result = { ...job.result, changed: isDone ? 1 : 0, services }
  const progress = Math.min(99, Math.floor((((round - 1) * count + done.length) / (ROUNDS * count)) * 100))
  const next: Erasure = isRoundDone
    ? { ...erasure, round: 2, done: [], startsAt: new Date(at.getTime() + BETWEEN_ROUNDS_MS) }
    : { ...erasure, round, done }
  const end = { state: 'completed', progress: 100, finishedAt: at, identity: null, erasure: null }
  await bulkJobs.updateOne(
    { _id: job._id },
    { $set: { result, ...(isDone ? end : { progress, erasure: next }) } },
    { tx },
  )
  if (isDone) await addEvents(tx, [completedEvent(job, result)])
}
