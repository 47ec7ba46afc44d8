import { type Logger, pause } from '@rollcall/runtime'
import { type Scope, scoped } from '@rollcall/store'
import type { Model, Types } from 'mongoose'
import type { Contact } from '../contacts/contact.model.ts'
import type { Attribute } from './attribute.model.ts'
import { pathOf } from './attribute-values.ts'

/** Takes the values of deleted attributes out of the contacts. */
export type ValueDropper = {
  /**
   * Drops the values of a definition marked as deleting, then the definition. Returns when that is done or, with many
   * contacts, soon: it goes on behind, and `resume` of the next start takes up what a stop interrupts.
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
  contacts: Model<Contact>
  attributes: Model<Attribute>
  logger: Logger
  /** How long a write that still knew the definition may take to come to its end. */
  settleMs?: number
  /** How long a caller waits for the values to go. */
  patienceMs?: number
}

const batchSize = 1000
const pollMs = 100

/** Creates the dropper of this process. Several processes may drop the same values: each step can be done twice. */
export function createValueDropper(options: Options): ValueDropper {
  const { contacts, attributes, logger, settleMs = 1000, patienceMs = 5000 } = options
  const stopping = new AbortController()
  const running = new Map<string, Promise<void>>()

  const dropAll = async (attribute: Attribute, firstPass: Promise<number>): Promise<void> => {
    await firstPass
    const scope = scoped(contacts, attribute.organization)
    do await pause(settleMs, stopping.signal)
    while (!stopping.signal.aborted && (await dropValues(scope, attribute.slug, stopping.signal)) > 0)
    if (stopping.signal.aborted) return
    await scoped(attributes, attribute.organization).deleteOne({ _id: attribute._id, deleting: true })
  }

  const start = (attribute: Attribute): Promise<unknown> => {
    const id = String(attribute._id)
    const firstPass = dropValues(scoped(contacts, attribute.organization), attribute.slug, stopping.signal)
    const all = dropAll(attribute, firstPass)
      .catch(err => logger.error({ err, attribute: id }, 'dropping values failed, the next start goes on'))
      .finally(() => running.delete(id))
    running.set(id, all)
    return firstPass
  }

  const isGone = async (organization: Types.ObjectId | string, slug: string): Promise<boolean> => {
    return (await scoped(attributes, organization).count({ slug, deleting: true })) === 0
  }

  return {
    drop: async attribute => void (await Promise.race([start(attribute), pause(patienceMs, stopping.signal)])),
    dropped: async (organizationId, slug) => {
      if (await scoped(attributes, organizationId).findOne({ slug, deleting: false })) return false
      for (const until = Date.now() + patienceMs; Date.now() < until; await pause(pollMs, stopping.signal)) {
        if (await isGone(organizationId, slug)) return true
      }
      return false
    },
    resume: async () => {
      for (const attribute of await attributes.find({ deleting: true }).lean<Attribute[]>()) void start(attribute)
    },
    stop: async () => {
      stopping.abort()
      await Promise.all(running.values())
    },
  }
}

/** Takes the values of a slug out of all contacts, in batches; answers how many had one. */
async function dropValues(contacts: Scope<Contact>, slug: string, signal: AbortSignal): Promise<number> {
  const path = pathOf(slug)
  let dropped = 0
  let ids: Types.ObjectId[] = []
  const flush = async () => {
    await contacts.updateMany({ _id: { $in: ids } }, { $unset: { [path]: 1 } })
    dropped += ids.length
    ids = []
  }
  const pipeline = [{ $match: { [path]: { $exists: true } } }, { $project: { _id: 1 as const } }]
  for await (const { _id } of contacts.stream<{ _id: Types.ObjectId }>(pipeline, { batchSize })) {
    ids.push(_id)
    if (ids.length === batchSize) await flush()
    if (signal.aborted) return dropped
  }
  if (ids.length > 0) await flush()
  return dropped
}
