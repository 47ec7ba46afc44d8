import type { Person, PersonalDataOf } from '@rollcall/service'
import type { Types } from 'mongoose'
import type { Collections } from './collections.ts'
import type { Context } from './context.ts'
import { erasedEvent, isAbout } from './events/erased-event.ts'
import { type LoggedEvent, publicEvent } from './events/logged-event.model.ts'

/** What the collections hold of contacts. */
export const personalData: PersonalDataOf<Collections, Context> = {
  webhooks: 'none',
  deliveries: 'none',
  // Before the events, which tell whose attempts they are.
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

/** Blanks the answers to deliveries of events about a person, and the bodies of tests. */
async function eraseAttempts(context: Context, person: Person): Promise<number> {
  let erased = 0
  const ids: Types.ObjectId[] = []
  for await (const { _id } of eventsAbout(context, person)) {
    ids.push(_id)
    if (ids.length === EVENTS_AT_ONCE) erased += await blankAttempts(context, person, ids.splice(0))
  }
  return erased + (await blankAttempts(context, person, ids))
}

async function blankAttempts({ collections }: Context, person: Person, events: Types.ObjectId[]): Promise<number> {
  if (events.length === 0) return 0
  const { webhooks, deliveries, attempts } = collections.of(person.organizationId)
  const endpoints = await webhooks.find({}, { projection: { _id: 1 } })
  const ofEvents = { endpoint: { $in: endpoints.map(({ _id }) => _id) }, 'event.id': { $in: events.map(String) } }
  const found = await deliveries.find(ofEvents, { projection: { _id: 1 } })
  const blank = { $set: { responseBody: '', responseHeaders: '{}', body: null } }
  const filter = { delivery: { $in: found.map(({ _id }) => _id) } }
  return (await attempts.updateMany(filter, blank)).modifiedCount
}
