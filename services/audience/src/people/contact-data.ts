import { eventPublishers, type HttpBody } from '@rollcall/contract'
import type { PersonRecord } from '@rollcall/protos/gen/people-v1.ts'
import { actorOf, type Call } from '@rollcall/rpc'
import { addEvents, event } from '@rollcall/store'
import type { Context } from '../context.ts'
import { writeDeferred } from '../history/history.ts'
import { identityOf } from './identity-of.ts'

const CONTENT_TYPE = 'application/json; charset=utf-8'

/**
 * Streams everything that the services hold of a contact as one JSON object, with an array for each section. Nothing
 * leaves before every service has begun to answer, and the event is stored.
 * @throws {AppError} contact.not_found; service.unavailable if a service is down
 */
export async function downloadContactData(context: Context, id: string, call: Call): Promise<AsyncIterable<HttpBody>> {
  const { caller, requestId, signal } = call
  const contact = await context.collections.of(caller.organizationId).contacts.get(id, 'contact')
  await writeDeferred(context, contact)
  const { emailKeys, names } = await identityOf(context, contact)
  const person = { contactId: String(contact._id), emailKeys, names }
  const answers = await Promise.all(
    eventPublishers.map(name => begun(context.people[name].describePerson(person, { caller, requestId, signal }))),
  )
  const exported = { contactId: contact._id, actor: actorOf(caller) }
  await context.store.transaction(tx => addEvents(tx, [event('contact.data_exported', contact, exported)]))
  return asJson(answers)
}

/** Returns a stream whose first message has arrived. */
async function begun<T>(messages: AsyncIterable<T>): Promise<AsyncIterable<T>> {
  const iterator = messages[Symbol.asyncIterator]()
  const first = await iterator.next()
  return (async function* () {
    if (first.done) return
    yield first.value
    yield* { [Symbol.asyncIterator]: () => iterator }
  })()
}

async function* asJson(answers: readonly AsyncIterable<PersonRecord>[]): AsyncGenerator<HttpBody> {
  const omitted: { section: string; permission: string }[] = []
  yield text(`{"exportedAt":${JSON.stringify(new Date())}`)
  let isOpen = false
  let isFirst = true
  for (const answer of answers)
    for await (const { section, record, omitted: permission } of answer) {
      if (permission !== undefined) omitted.push({ section, permission })
      else if (record !== undefined) yield text(`${isFirst ? '' : ','}${JSON.stringify(record)}`)
      else yield text(`${isOpen ? ']' : ''},${JSON.stringify(section)}:[`)
      isFirst = record === undefined
      isOpen ||= permission === undefined
    }
  yield text(`${isOpen ? ']' : ''},"omitted":${JSON.stringify(omitted)}}`)
}

function text(data: string): HttpBody {
  return { contentType: CONTENT_TYPE, data: Buffer.from(data) }
}
