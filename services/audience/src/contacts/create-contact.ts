import { AppError, emailKeyOf, type HttpBody, json } from '@rollcall/contract'
import type { CreateContactRequest } from '@rollcall/protos/gen/audience-v1.ts'
import { type Call, originOf } from '@rollcall/rpc'
import type { Origin } from '@rollcall/runtime'
import { addEvents, groupWrites, insertOf, type Scope, type WriteGroup } from '@rollcall/store'
import type { ClientSession } from 'mongoose'
import {
  type AttributeValues,
  castAttributes,
  type Definitions,
  limitText,
  requireAttributes,
} from '../attributes/attribute-values.ts'
import { readDefinitions } from '../attributes/definitions.ts'
import type { Adding } from '../context.ts'
import { countChanges } from '../growth/count-changes.ts'
import { createdEntry } from '../history/history.model.ts'
import { applyOptOuts } from '../people/erased-addresses.ts'
import { distinctTags } from './changes.ts'
import {
  type Contact,
  contactPositions,
  type NewContact,
  placed,
  publicContact,
  untouched,
  waitAnnouncer,
} from './contact.model.ts'
import { createdEvent } from './contact-events.ts'
import { orRefusal, succeeded } from './refusal.ts'

/** A contact to be created, and by whom. */
export type Creation = { request: CreateContactRequest; origin: Origin; source?: Contact['source'] }

/**
 * Returns the function that creates a contact: the record, its position, its history entry and its event in one
 * transaction. Concurrent calls share a transaction, because all of them take a position in the same list.
 */
export function contactCreator(context: Adding): (request: CreateContactRequest, call: Call) => Promise<HttpBody> {
  const create = groupWrites(context.store, createAll(context), { onWait: waitAnnouncer(context) })
  return async (request, call) => {
    const creation = { request, origin: originOf(call) }
    return json(publicContact(await create(call.caller.organizationId, creation, call)))
  }
}

/** Returns the function that creates contacts of one organization in a given transaction. */
export function createAll(context: Adding): WriteGroup<Creation, Contact> {
  return async (tx, creations, organizationId) => {
    const tenant = context.collections.of(organizationId)
    const { contacts, attributes, history } = tenant
    const positions = contactPositions(context, organizationId)
    const { first, at } = await positions.take(tx, creations.length, { isFirst: true })
    const definitions = await readDefinitions(attributes, tx)
    const taken = await takenEmails(contacts, creations, tx)
    const checked = creations.map(creation => orRefusal(() => newContact(creation, definitions, taken)))
    await applyOptOuts(context, organizationId, checked.filter(succeeded), tx)
    const refused = checked.filter(each => each instanceof AppError)
    if (refused.length === checked.length) return refused
    await positions.giveBack(tx, refused.length)
    let position = first
    const results = checked.map(each => (succeeded(each) ? placed(contacts.organization, each, position++, at) : each))
    const created = results.filter(succeeded)
    await contacts.bulkWrite(created.map(insertOf), { tx })
    await countChanges(
      tenant,
      created.map(after => ({ after, at })),
      tx,
    )
    await history.bulkWrite(created.map(createdEntry).map(insertOf), { tx })
    await addEvents(tx, createdEvents(results, creations))
    return results
  }
}

function createdEvents(results: readonly (Contact | AppError)[], creations: readonly Creation[]) {
  return results.flatMap((result, index) => (succeeded(result) ? [createdEvent(result, creations[index]!.origin)] : []))
}

async function takenEmails(contacts: Scope<Contact>, creations: readonly Creation[], tx: ClientSession) {
  const emailKeys = creations.map(({ request }) => emailKeyOf(request.email))
  const found = await contacts.find({ emailKey: { $in: emailKeys } }, { tx, projection: { emailKey: 1 } })
  return new Set(found.map(({ emailKey }) => emailKey))
}

/** Returns the contact and adds its email to `taken`. @throws {AppError} for invalid attributes or a taken email */
function newContact(
  { request, origin, source = 'api' }: Creation,
  definitions: Definitions,
  taken: Set<string>,
): NewContact {
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
    source,
    createdBy: origin.actor,
  }
}

/** Returns the attributes of a new contact; null counts as not given. */
function initialAttributes(definitions: Definitions, wanted: CreateContactRequest['attributes'] = {}): AttributeValues {
  const given = Object.entries(wanted).filter(([, value]) => value !== null)
  const values = Object.fromEntries(given) as AttributeValues
  requireAttributes(definitions, values) // missing attributes are reported before invalid ones
  const attributes = Object.fromEntries(castAttributes(definitions, values)) as AttributeValues
  limitText(Object.values(attributes))
  return attributes
}
