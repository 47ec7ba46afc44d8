import type { Person, PersonalDataOf } from '@rollcall/service'
import type { Collections, Tenant } from './collections.ts'
import type { Context } from './context.ts'
import { NO_REPLY, withoutReply } from './deliveries/attempt.ts'
import type { Delivery } from './deliveries/delivery.model.ts'
import { erasedEvent, isAbout } from './events/erased-event.ts'
import { type LoggedEvent, publicEvent } from './events/logged-event.model.ts'

/** What the collections hold of contacts. */
export const personalData: PersonalDataOf<Collections, Context> = {
  webhooks: 'none',
  // The events before deliveries and attempts: see `blankErasedReply`.
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

/** Blanks names and addresses in events, and marks these; the events stay. */
async function eraseEvents(context: Context, person: Person): Promise<number> {
  const { events } = context.collections.of(person.organizationId)
  let erased = 0
  for await (const event of eventsAbout(context, person)) erased += await eraseFrom(events, event, person)
  return erased
}

/** Blanks a person in an event. Starts over if somebody else was erased from it since: that data would return. */
async function eraseFrom(events: Tenant['events'], event: LoggedEvent, person: Person): Promise<number> {
  const { subject, actor, data } = erasedEvent(event, person)
  const update = { $set: { subject, actor, data }, $addToSet: { erasedFor: person.contactId } }
  const asRead = { _id: event._id, erasedFor: event.erasedFor ?? null }
  const { matchedCount, modifiedCount } = await events.updateOne(asRead, update)
  if (matchedCount === 1) return modifiedCount
  const current = await events.findOne({ _id: event._id })
  return current ? eraseFrom(events, current, person) : 0
}

/** Blanks what webhooks said in their last refusals of events that a person was erased from. */
async function eraseDeliveries(context: Context, person: Person): Promise<number> {
  const { deliveries } = context.collections.of(person.organizationId)
  let erased = 0
  for await (const found of deliveriesErasedFor(context, person)) {
    const writes = found.map(({ _id, lastError }) => ({
      updateOne: { filter: { _id }, update: { $set: { lastError: withoutReply(lastError) } } },
    }))
    erased += (await deliveries.bulkWrite(writes, { timestamps: false }))?.modifiedCount ?? 0
  }
  return erased
}

/** Blanks the answers to deliveries of events that a person was erased from, and the bodies of tests. */
async function eraseAttempts(context: Context, person: Person): Promise<number> {
  const { attempts } = context.collections.of(person.organizationId)
  const blank = { ...NO_REPLY, body: null }
  let erased = 0
  for await (const found of deliveriesErasedFor(context, person)) {
    const filter = { delivery: { $in: found.map(({ _id }) => _id) } }
    const writes = (await attempts.find(filter, { projection: { error: 1 } })).map(({ _id, error }) => ({
      updateOne: { filter: { _id }, update: { $set: { ...blank, error: withoutReply(error) } } },
    }))
    erased += (await attempts.bulkWrite(writes))?.modifiedCount ?? 0
  }
  return erased
}

/** Yields the deliveries of events that a person was erased from, in batches. */
async function* deliveriesErasedFor(context: Context, person: Person): AsyncGenerator<Delivery[]> {
  const { webhooks, deliveries, events } = context.collections.of(person.organizationId)
  const endpoints = (await webhooks.find({}, { projection: { _id: 1 } })).map(({ _id }) => _id)
  const ofEvents = (ids: readonly string[]) =>
    deliveries.find({ endpoint: { $in: endpoints }, 'event.id': { $in: ids } }, { projection: { lastError: 1 } })
  const ids: string[] = []
  const erased = [{ $match: { erasedFor: person.contactId } }, { $project: { _id: 1 } }]
  for await (const { _id } of events.stream<Pick<LoggedEvent, '_id'>>(erased)) {
    ids.push(String(_id))
    if (ids.length === EVENTS_AT_ONCE) yield ofEvents(ids.splice(0))
  }
  if (ids.length > 0) yield ofEvents(ids)
}
