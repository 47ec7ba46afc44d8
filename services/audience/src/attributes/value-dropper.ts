import { type Logger, pause, retry } from '@rollcall/runtime'
import { type Store, scoped } from '@rollcall/store'
import type { Model, Types } from 'mongoose'
import type { Contact } from '../contacts/contact.model.ts'
import { contactPositions } from '../contacts/contact-positions.ts'
import type { Attribute } from './attribute.model.ts'
import { pathOf } from './attribute-values.ts'

/** Takes the values of deleted attributes out of the contacts. */
export type ValueDropper = {
  /**
   * Drops the values of a definition marked as deleting, then the definition. Returns when the values are gone or, with
   * many contacts, soon: it goes on behind, and `resume` of the next start takes up what a stop interrupts.
   */
  drop(attribute: Attribute): Promise<void>
  /** Waits a while for a deleted definition to be gone; answers whether it is. */
  dropped(organizationId: string, slug: string): Promise<boolean>
  /** Drops what an earlier stop left. */
  resume(): Promise<void>
  /** Begins no further step, and waits for the one under way. */
  stop(): Promise<void>
}

type Options = {
  store: Store
  contacts: Model<Contact>
  attributes: Model<Attribute>
  logger: Logger
  /** How long a caller waits for the values to go. */
  patienceMs?: number
}

const batchSize = 1000
const pollMs = 100
const longestWaitMs = 30_000
/** How long it is tried at a time to come between others who write contacts. */
const fenceMs = 5000

/** Creates the dropper of this process. Several processes may drop the same values at once. */
export function createValueDropper(options: Options): ValueDropper {
  const { store, contacts, attributes, logger, patienceMs = 5000 } = options
  const stopping = new AbortController()
  const { signal } = stopping
  const running = new Set<Promise<void>>()

  /**
   * One step; answers how many values went. It writes the definition too, so that it can never meet values of a later
   * one that has the same slug.
   */
  const dropFrom = ({ _id, organization, slug }: Attribute, ids: Types.ObjectId[]): Promise<number> =>
    store.transaction(async session => {
      const mark = { $set: { updatedAt: new Date() } }
      const marked = await scoped(attributes, organization).updateOne({ _id, deleting: true }, mark, { session })
      if (marked.matchedCount === 0) return 0
      const update = { $unset: { [pathOf(slug)]: 1 } }
      await scoped(contacts, organization).updateMany({ _id: { $in: ids } }, update, { session })
      await contactPositions({ store }, organization).invalidate(session)
      return ids.length
    })

  /** Goes once through all contacts that have a value; answers how many values went. */
  const pass = async (attribute: Attribute): Promise<number> => {
    const scope = scoped(contacts, attribute.organization)
    const withValue = [{ $match: { [pathOf(attribute.slug)]: { $exists: true } } }, { $project: { _id: 1 as const } }]
    let dropped = 0
    const ids: Types.ObjectId[] = []
    for await (const { _id } of scope.stream<{ _id: Types.ObjectId }>(withValue, { batchSize })) {
      if (signal.aborted) return dropped
      ids.push(_id)
      if (ids.length === batchSize) dropped += await dropFrom(attribute, ids.splice(0))
    }
    return ids.length > 0 ? dropped + (await dropFrom(attribute, ids)) : dropped
  }

  /** Whoever knew the definition as alive is done from here on, or reads anew: no value comes any more. */
  const awaitWriters = ({ organization }: Attribute): Promise<void> =>
    store.transaction(session => contactPositions({ store }, organization).lockAll(session), {
      timeoutMs: fenceMs,
      queue: String(organization), // as the batches of imports, which leave little room between them
    })

  const dropAll = async (attribute: Attribute, onFirstPass: () => void): Promise<void> => {
    await pass(attribute)
    onFirstPass()
    if (signal.aborted) return
    await awaitWriters(attribute)
    let dropped: number
    do dropped = await pass(attribute)
    while (dropped > 0 && !signal.aborted)
    if (signal.aborted) return
    await scoped(attributes, attribute.organization).deleteOne({ _id: attribute._id, deleting: true })
  }

  /** Drops all values however often the database goes away; answers when they are gone for the first time. */
  const start = (attribute: Attribute): Promise<void> => {
    const { promise: firstPass, resolve } = Promise.withResolvers<void>()
    const report = (err: unknown) =>
      logger.warn({ err, attribute: String(attribute._id) }, 'values could not be dropped')
    const all = retry(() => dropAll(attribute, resolve), { signal, maxMs: longestWaitMs, onRetry: report })
      .catch(report)
      .finally(() => running.delete(all))
    running.add(all)
    return firstPass
  }

  return {
    drop: attribute => Promise.race([start(attribute), pause(patienceMs, signal)]),
    dropped: async (organizationId, slug) => {
      const scope = scoped(attributes, organizationId)
      const isDeleting = async () => (await scope.count({ slug, deleting: true })) > 0
      if (!(await isDeleting())) return (await scope.count({ slug })) === 0
      for (const until = Date.now() + patienceMs; Date.now() < until; await pause(pollMs, signal)) {
        if (!(await isDeleting())) return true
      }
      return false
    },
    resume: async () => {
      for (const attribute of await attributes.find({ deleting: true }).lean<Attribute[]>()) void start(attribute)
    },
    stop: async () => {
      stopping.abort()
      await Promise.all(running)
    },
  }
}
