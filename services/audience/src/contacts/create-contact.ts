import { AppError, emailKeyOf, type HttpBody, json } from '@rollcall/contract'
import type { CreateContactRequest } from '@rollcall/protos/gen/audience-v1.ts'
import { type Actor, actorOf, type Call } from '@rollcall/rpc'
import { addEvents, groupWrites, type Scope, type WriteGroup } from '@rollcall/store'
import type { ClientSession } from 'mongoose'
import {
  type AttributeValues,
  castAttributes,
  type Definitions,
  requireAttributes,
} from '../attributes/attribute-values.ts'
import { readDefinitions } from '../attributes/definitions.ts'
import type { Data } from '../context.ts'
import { createdEntry } from '../history/history.model.ts'
import { insertOf } from '../insert-of.ts'
import { distinctTags } from './changes.ts'
import { type Contact, type NewContact, placed, publicContact, untouched } from './contact.model.ts'
import { createdEvent } from './contact-events.ts'
import { contactPositions } from './contact-positions.ts'
import { orRefusal, succeeded } from './refusal.ts'

/** A contact to be made, and by whom. */
type Wish = { request: CreateContactRequest; actor: Actor }
/**
 * Creates contacts: the record, its place in the list, its history entry and its event in one transaction. Contacts
 * made at the same time share one, since all of them take a place in the same list.
 */
export function contactCreator(context: Data): (request: CreateContactRequest, call: Call) => Promise<HttpBody> {
  const create = groupWrites(context.store, createAll(context))
  return async (request, { caller }) =>
    json(publicContact(await create(caller.organizationId, { request, actor: actorOf(caller) })))
}

function createAll(context: Data): WriteGroup<Wish, Contact> {
  return async (tx, wishes, organizationId) => {
    const { contacts, attributes, history } = context.collections.of(organizationId)
    const definitions = await readDefinitions(attributes, tx)
    const taken = await takenEmails(contacts, wishes, tx)
    const checked = wishes.map(wish => orRefusal(() => newContact(wish, definitions, taken)))
    const count = checked.filter(succeeded).length
    const { first, at } = await contactPositions(context, organizationId).take(tx, count)
    let position = first
    const results = checked.map(each => (succeeded(each) ? placed(contacts.organization, each, position++, at) : each))
    const created = results.filter(succeeded)
    await contacts.bulkWrite(created.map(insertOf), { tx })
    await history.bulkWrite(created.map(createdEntry).map(insertOf), { tx })
    await addEvents(tx, created.map(createdEvent))
    return results
  }
}

async function takenEmails(contacts: Scope<Contact>, wishes: readonly Wish[], tx: ClientSession) {
  const emailKeys = wishes.map(({ request }) => emailKeyOf(request.email))
  const found = await contacts.find({ emailKey: { $in: emailKeys } }, { tx, projection: { emailKey: 1 } })
  return new Set(found.map(({ emailKey }) => emailKey))
}

/** @throws {AppError} where an attribute is missing or does not fit, or the email is taken; takes it otherwise */
function newContact({ request, actor }: Wish, definitions: Definitions, taken: Set<string>): NewContact {
  const attributes = initialAttributes(definitions, request.attributes)
  const emailKey = emailKeyOf(request.email)
  if (taken.has(emailKey)) throw new AppError('record.duplicate', { path: 'email' })
  taken.add(emailKey)
  return {
    ...untouched,
    ...request,
    emailKey,
    attributes,
    tags: distinctTags(request.tags),
    source: 'api',
    createdBy: actor,
  }
}

/** The attributes a new contact starts with; null is the same as not given. */
function initialAttributes(definitions: Definitions, wanted: CreateContactRequest['attributes'] = {}): AttributeValues {
  const given = Object.entries(wanted).filter(([, value]) => value !== null)
  const values = Object.fromEntries(given) as AttributeValues
  requireAttributes(definitions, values) // what is missing is told before what is wrong
  return Object.fromEntries(castAttributes(definitions, values)) as AttributeValues
}
