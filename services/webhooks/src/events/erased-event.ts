import { ERASED, type Person } from '@rollcall/service'
import type { LoggedEvent } from './logged-event.model.ts'

/** Fields of the data that say nothing of the person. */
const kept = new Set([
  '_id',
  'id',
  'actor',
  'at',
  'campaignId',
  'changed',
  'collectionId',
  'contactId',
  'createdAt',
  'emailId',
  'entryId',
  'how',
  'jobId',
  'kind',
  'listId',
  'sender',
  'source',
  'updatedAt',
  'userId',
])

/** Fields that hold nothing but values of the person. */
const emptied = new Set(['attributes', 'values'])

/** Whether an event is about a person: by the contact, or by an address. */
export function isAbout({ subject, actor, data }: LoggedEvent, { contactId, isNamedIn }: Person): boolean {
  if (subject.id === contactId || data.includes(`"${contactId}"`)) return true
  return isNamedIn([JSON.parse(data), subject.name, actor.name])
}

/** Returns an event without the names and addresses of the person it is about: ids, types and times stay. */
export function erasedEvent(event: LoggedEvent, person: Person): Pick<LoggedEvent, 'subject' | 'actor' | 'data'> {
  const { subject, actor, data } = event
  const isOfContact = subject.id === person.contactId
  const names = JSON.parse(data)
  const isOfPerson = isOfContact || names.contactId === person.contactId || person.isNamedIn(names)
  return {
    subject: { ...subject, name: isOfContact || person.isNamedIn(subject.name) ? null : subject.name },
    actor: person.without(actor),
    data: JSON.stringify(person.without(isOfPerson ? blanked(names) : names)),
  }
}

/** Blanks the values of a person in the data of an event: texts, and everything in records but their ids. */
function blanked(value: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => {
      if (emptied.has(key)) return [key, {}]
      return [key, kept.has(key) ? each : blankedValue(each)]
    }),
  )
}

function blankedValue(value: unknown): unknown {
  if (typeof value === 'string') return ERASED
  if (Array.isArray(value)) return []
  if (typeof value === 'object' && value !== null) return blanked(value as Record<string, unknown>)
  return value
}
