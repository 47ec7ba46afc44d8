import { defineJob, type Job, type LeaseSlice, type Outcome } from '@rollcall/jobs'
import { pause } from '@rollcall/runtime'
import { type Contact, contactPositions } from '../contacts/contact.model.ts'
import type { Data } from '../context.ts'
import type { Attribute } from './attribute.model.ts'
import { pathOf } from './attribute-values.ts'

/**
 * Drops the values of deleted attributes from the contacts. An attribute marked as `deleting` is the record; one replica at
 * a time works on it:
 *
 * 1. Pass 1: drop the values of all contacts, in batches, each a transaction under the lease.
 * 2. Lock out the writers of contacts once: those who knew the definition have committed, or read it again.
 * 3. Pass 2: drop what they wrote meanwhile. Where it finds any, the next slice starts again.
 * 4. Delete the definition; its slug is free.
 */
export type DropValuesJob = Job & {
  /**
   * Starts on a definition marked as deleting. Returns when pass 1 is over, or soon where there are many contacts: the work
   * continues in the background, and another process resumes it after a crash.
   */
  drop(attribute: Attribute): Promise<void>
  /** Waits a while for a deleted definition to be gone; returns whether it is. */
  dropped(organizationId: string, slug: string): Promise<boolean>
}

const BATCH_SIZE = 1000
const POLL_MS = 100
/** How long a caller waits for the values to go. */
const CALLER_TIMEOUT_MS = 5000
/** A slice ends after this time; the next one resumes. */
const SLICE_MS = 30_000
/** How long to try to lock out the writers of contacts. */
const LOCK_TIMEOUT_MS = 5000

/** Creates the job that drops the values of deleted attributes. */
export function dropValuesJob(data: Data): DropValuesJob {
  const { collections } = data
  const callers = new Map<string, () => void>()
  const job = defineJob<Attribute>({
    name: 'attribute-values',
    lease: { store: data.store },
    unfinished: () => collections.unscoped.attributes.find({ deleting: true }).lean<Attribute[]>().exec(),
    load: ({ _id, organization }) => collections.of(organization).attributes.findOne({ _id, deleting: true }),
    since: ({ updatedAt }) => updatedAt,
    run: (attribute, slice) => dropValues(data, attribute, slice, () => callers.get(String(attribute._id))?.()),
  })
  return {
    ...job,
    async drop(attribute) {
      const id = String(attribute._id)
      const { promise: firstPass, resolve } = Promise.withResolvers<void>()
      callers.set(id, resolve)
      const completed = job.complete(attribute, AbortSignal.timeout(CALLER_TIMEOUT_MS)).catch(() => undefined)
      await Promise.race([firstPass, completed]).finally(() => callers.delete(id))
    },
    async dropped(organizationId, slug) {
      const { attributes } = data.collections.of(organizationId)
      const isDeleting = async () => (await attributes.count({ slug, deleting: true })) > 0
      if (!(await isDeleting())) return (await attributes.count({ slug })) === 0
      for (const until = Date.now() + CALLER_TIMEOUT_MS; Date.now() < until; await pause(POLL_MS)) {
        if (!(await isDeleting())) return true
      }
      return false
    },
  }
}

/** One slice. `onFirstPass` is called when pass 1 has reached its end. */
export async function dropValues(
  data: Data,
  attribute: Attribute,
  slice: LeaseSlice,
  onFirstPass = () => {},
): Promise<Outcome> {
  const until = Date.now() + SLICE_MS
  if ((await pass(data, attribute, slice, until)) === 'again') return 'again'
  onFirstPass()
  await awaitWriters(data, attribute)
  if ((await pass(data, attribute, slice, until)) !== 0) return 'again'
  const { attributes } = data.collections.of(attribute.organization)
  await attributes.deleteOne({ _id: attribute._id, deleting: true })
  return 'done'
}

type Found = Pick<Contact, '_id' | 'position'>

/** Drops the values that it finds in one pass. @returns how many, or `again` when the time is over */
async function pass(data: Data, attribute: Attribute, slice: LeaseSlice, until: number): Promise<number | 'again'> {
  const { contacts } = data.collections.of(attribute.organization)
  const withValue = [
    { $match: { [pathOf(attribute.slug)]: { $exists: true } } },
    { $project: { _id: 1 as const, position: 1 as const } },
  ]
  let dropped = 0
  const found: Found[] = []
  for await (const contact of contacts.stream<Found>(withValue, { batchSize: BATCH_SIZE })) {
    slice.signal.throwIfAborted()
    if (Date.now() > until) return 'again'
    found.push(contact)
    if (found.length === BATCH_SIZE) dropped += await dropFrom(data, attribute, slice, found.splice(0))
  }
  return found.length > 0 ? dropped + (await dropFrom(data, attribute, slice, found)) : dropped
}

/**
 * Drops the values of these contacts. Also writes the definition, so that values of a later attribute with the same slug
 * are never dropped. @returns how many values were dropped
 */
function dropFrom(
  { store, collections }: Data,
  { _id, organization, slug }: Attribute,
  { fence }: LeaseSlice,
  found: readonly Found[],
): Promise<number> {
  const { attributes, contacts } = collections.of(organization)
  return store.transaction(async tx => {
    await fence(tx)
    const mark = { $set: { updatedAt: new Date() } }
    const marked = await attributes.updateOne({ _id, deleting: true }, mark, { tx })
    if (marked.matchedCount === 0) return 0
    const ids = found.map(({ _id }) => _id)
    await contacts.updateMany({ _id: { $in: ids } }, { $unset: { [pathOf(slug)]: 1 } }, { tx })
    await contactPositions({ store }, organization).invalidate(
      tx,
      found.map(({ position }) => position),
    )
    return found.length
  })
}

/** Afterwards no writer adds a value: those who knew the definition have committed, or read it again. */
function awaitWriters({ store }: Data, { organization }: Attribute): Promise<void> {
  return store.transaction(tx => contactPositions({ store }, organization).lockAll(tx), {
    timeoutMs: LOCK_TIMEOUT_MS,
    queue: String(organization), // shared with the batches of imports, which would otherwise starve it
  })
}
