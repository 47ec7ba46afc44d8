import type { Person, PersonalDataOf } from '@rollcall/service'
import type { Collections } from './collections.ts'
import type { Context } from './context.ts'
import { withoutReply } from './deliveries/attempt.ts'
import type { Delivery } from './deliveries/delivery.model.ts'
import { erasedEvent, isAbout } from './events/erased-event.ts'
import { type LoggedEvent, publicEvent } from './events/logged-event.model.ts'

/** What the collections hold of contacts. */
export const personalData: PersonalDataOf<Collections, Context> = {
  webhooks: 'none',
  // Deliveries and attempts before the events, which tell whose they are.
  deliveries: {
    holds: 'the beginning of the last refusal of a webhook, which can repeat the event',
    kept: '30 days',
    erase: eraseDeliveries,
  },
  attempts: {
    holds: 'answers of webhooks, which can repeat the event; bodies of tests',
    kept: '30 days',
    erase: eraseAttempts,
  },
  events: {
    holds: 'names and addresses in what happened',
    kept: 'days that the organization chooses, 7 to 365; EVENT_RETENTION_DAYS by default',
    shown: {
      section: 'events',
      needs: 'events.read',
      async *find(context, person) {
        for await (const event of eventsAbout(context, person)) yield publicEvent(event)
      },
    },
    erase: eraseEvents,
  },
  retentions: 'none',
}

const EVENTS_AT_ONCE = 500

/** Yields the events about a person: with the contact as subject, or with the contact or one of the addresses in the data. */
async function* eventsAbout({ collections }: Context, person: Person): AsyncGenerator<LoggedEvent> {
  const { events } = collections.of(person.organizationId)
  const conditions = [
    { 'subject.id': person.contactId },
    { data: { $regex: person.contactId } },
    ...['data', 'subject.name', 'actor.name'].map(person.mayBeNamedIn),
  ]
  for await (const event of events.stream<LoggedEvent>([{ $match: { $or: conditions } }]))
    if (isAbout(event, person)) yield event
}

/** Blanks names and addresses in events; the events stay. */
async function eraseEvents(context: Context, person: Person): Promise<number> {
  const { events } = context.collections.of(person.organizationId)
  let erased = 0
  for await (const event of eventsAbout(context, person)) {
    const { subject, actor, data } = erasedEvent(event, person)
    const { modifiedCount } = await events.updateOne({ _id: event._id }, { $set: { subject, actor, data } })
    erased += modifiedCount
  }
  return erased
}

/** Blanks what webhooks said in their last refusals of events about a person. */
async function eraseDeliveries(context: Context, person: Person): Promise<number> {
  const { deliveries } = context.collections.of(person.organizationId)
  let erased = 0
  for await (const found of deliveriesAbout(context, person)) {
    const writes = found.map(({ _id, lastError }) => ({
      updateOne: { filter: { _id }, update: { $set: { lastError: withoutReply(lastError) } } },
    }))
    erased += (await deliveries.bulkWrite(writes, { timestamps: false }))?.modifiedCount ?? 0
  }
  return erased
}

/** Blanks the answers to deliveries of events about a person, and the bodies of tests. */
async function eraseAttempts(context: Context, person: Person): Promise<number> {
  const { attempts } = context.collections.of(person.organizationId)
  const blank = { responseBody: '', responseHeaders: '{}', body: null }
  let erased = 0
  for await (const found of deliveriesAbout(context, person)) {
    const filter = { delivery: { $in: found.map(({ _id }) => _id) } }
    const writes = (await attempts.find(filter, { projection: { error: 1 } })).map(({ _id, error }) => ({
      updateOne: { filter: { _id }, update: { $set: { ...blank, error: withoutReply(error) } } },
    }))
    erased += (await attempts.bulkWrite(writes))?.modifiedCount ?? 0
  }
  return erased
}

/** Yields the deliveries of events about a person, in batches. */
async function* deliveriesAbout(context: Context, person: Person): AsyncGenerator<Delivery[]> {
  const { webhooks, deliveries } = context.collections.of(person.organizationId)
  const endpoints = (await webhooks.find({}, { projection: { _id: 1 } })).map(({ _id }) => _id)
  const ofEvents = (ids: readonly string[]) =>
    deliveries.find({ endpoint: { $in: endpoints }, 'event.id': { $in: ids } }, { projection: { lastError: 1 } })
  const ids: string[] = []
  for await (const { _id } of eventsAbout(context, person)) {
    ids.push(String(_id))
    if (ids.length === EVENTS_AT_ONCE) yield ofEvents(ids.splice(0))
  }
  if (ids.length > 0) yield ofEvents(ids)
}
