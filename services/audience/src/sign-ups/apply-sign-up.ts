import { AppError, contactLimits, emailKeyOf, isObjectId } from '@rollcall/contract'
import type { ApplySignUpRequest, ApplySignUpResponse } from '@rollcall/protos/gen/audience-v1.ts'
import { type Call, originOf } from '@rollcall/rpc'
import type { Origin } from '@rollcall/runtime'
import { addEvents, event } from '@rollcall/store'
import type { ClientSession } from 'mongoose'
import { castAttributes, type Definitions, pathOf } from '../attributes/attribute-values.ts'
import { readDefinitions } from '../attributes/definitions.ts'
import { type ChangeRequest, changeAll } from '../contacts/change-contact.ts'
import { type AttributesPatch, distinctTags, fittingPatch, type Patch } from '../contacts/changes.ts'
import type { Contact } from '../contacts/contact.model.ts'
import { createAll } from '../contacts/create-contact.ts'
import { lockContact } from '../contacts/lock-contact.ts'
import type { Adding } from '../context.ts'
import { activityEntry } from '../history/history.model.ts'
import { addMembers, candidateFields, isMember, takeOverMembership } from '../lists/members.ts'
import { forgetOptOuts } from '../people/erased-addresses.ts'

const { tagCount } = contactLimits()
const FORM = { kind: 'system', id: null, name: 'form' } as const

/** A sign-up in its transaction. */
type SignUp = { request: ApplySignUpRequest; organizationId: string; origin: Origin; tx: ClientSession }

/**
 * Creates or updates the contact of a sign-up: the record, its lists, its history with the proof of the confirmation, and
 * the events, in one transaction. Does nothing if the sign-up was applied before.
 * @throws {AppError} request.missing_field if the organization requires an attribute that the form does not give
 */
export function applySignUp(data: Adding, request: ApplySignUpRequest, call: Call): Promise<ApplySignUpResponse> {
  const { organizationId } = call.caller
  const origin = { ...originOf(call), actor: FORM }
  return data.store.transaction(
    async tx => {
      const contact = await applyOnce(data, { request, organizationId, origin, tx })
      return { contactId: String(contact._id) }
    },
    { queue: `sign-ups of ${organizationId}` },
  )
}

async function applyOnce(data: Adding, signUp: SignUp): Promise<Contact> {
  const { request, organizationId, tx } = signUp
  const { contacts, history, attributes } = data.collections.of(organizationId, tx)
  const known = await contacts.findOne({ emailKey: emailKeyOf(request.email) })
  if (known) {
    await lockContact(contacts, known._id, tx)
    if (await history.findOne({ person: known._id, 'data.signUp': request.id })) return known
  }
  if (request.confirmation) await forgetOptOuts(data, organizationId, [emailKeyOf(request.email)], tx)
  const definitions = await readDefinitions(attributes)
  const values = fittingAttributes(definitions, request.attributes, known ?? { attributes: {} })
  const contact = known ?? (await createContact(data, signUp, values))
  if (known) await updateContact(data, signUp, known, values)
  await joinLists(data, signUp, contact)
  await record(data, signUp, contact)
  return contact
}

async function createContact(data: Adding, signUp: SignUp, attributes: Record<string, unknown>): Promise<Contact> {
  const { request, organizationId, origin, tx } = signUp
  const { email, name, tags } = request
  const creation = { request: { email, name, tags, attributes: attributes as never }, origin, source: 'form' } as const
  const [created] = await createAll(data)(tx, [creation], organizationId)
  if (!created || created instanceof AppError) throw created
  return created
}

async function updateContact(
  data: Adding,
  { request, organizationId, origin, tx }: SignUp,
  known: Contact,
  values: Record<string, unknown>,
): Promise<void> {
  const { name, tags, confirmation } = request
  const fields: Patch = { ...(name !== '' && { name }), ...(confirmation && { unsubscribed: false }) }
  const change = (type: ChangeRequest['type'], patch: ChangeRequest['patch']): ChangeRequest => {
    return { organizationId, id: String(known._id), type, actor: FORM, origin, patch }
  }
  const changes = [
    change('contact.updated', fields),
    change('contact.attributes_updated', definitions => attributePatch(definitions, values)),
    change('contact.tags_replaced', { tags: distinctTags([...known.tags, ...tags]).slice(0, tagCount) }),
  ]
  await changeAll(data)(tx, changes, organizationId)
}

async function joinLists(data: Adding, { request, organizationId, tx }: SignUp, { _id }: Contact): Promise<void> {
  const { contacts, lists } = data.collections.of(organizationId, tx)
  const wanted = await lists.find({ _id: { $in: request.lists.filter(isObjectId) }, archived: false })
  for (const list of wanted) {
    const candidate = await contacts.get(_id, 'contact', { projection: candidateFields })
    const arrival = { list, actor: FORM, source: 'form', at: new Date() } as const
    if (isMember(candidate, list._id)) await takeOverMembership(data, tx, candidate, arrival)
    else await addMembers(data, tx, [candidate], arrival)
  }
}

/** Writes the activity, with the proof of a confirmation, and publishes the confirmation. */
async function record(data: Adding, { request, organizationId, origin, tx }: SignUp, contact: Contact): Promise<void> {
  const { history } = data.collections.of(organizationId, tx)
  const { id: signUp, form, collectionId, entryId, confirmation, email } = request
  const details = { signUp, form, collection: collectionId, entry: entryId, submittedAt: request.at }
  const at = new Date(confirmation?.at ?? request.at)
  const type = confirmation ? 'form.confirmed' : 'form.submitted'
  await history.insertOne(activityEntry(contact, type, at, FORM, { ...details, ...(confirmation && { confirmation }) }))
  if (!confirmation) return
  const confirmed = { contactId: contact._id, email, form, collectionId, at }
  await addEvents(tx, [event('contact.confirmed', contact, confirmed, at, origin)])
}

function attributePatch(definitions: Definitions, values: Record<string, unknown>): AttributesPatch {
  return Object.fromEntries(castAttributes(definitions, values).map(([slug, value]) => [pathOf(slug), value]))
}

/** Returns the attributes, as given, whose values fit their definition, as far as the contact has room for their text. */
function fittingAttributes(
  definitions: Definitions,
  given: Record<string, unknown>,
  contact: Pick<Contact, 'attributes'>,
): Record<string, unknown> {
  const fits = ([slug, value]: [string, unknown]) => {
    try {
      return value !== null && castAttributes(definitions, { [slug]: value }).length === 1
    } catch {
      return false
    }
  }
  const valid = Object.entries(given).filter(fits)
  const fitting = fittingPatch(contact, attributePatch(definitions, Object.fromEntries(valid)))
  return Object.fromEntries(valid.filter(([slug]) => Object.hasOwn(fitting, pathOf(slug))))
}
