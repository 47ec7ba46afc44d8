import { AppError, emailKeyOf, updated } from '@rollcall/contract'
import type { Updated } from '@rollcall/protos/gen/types.ts'
import { type Actor, actorOf, type Call, originOf } from '@rollcall/rpc'
import type { Origin } from '@rollcall/runtime'
import {
  addEvents,
  type BulkOperation,
  groupWrites,
  insertOf,
  type OutgoingEvent,
  objectId,
  untilReleased,
  type WriteGroup,
} from '@rollcall/store'
import type { Definitions } from '../attributes/attribute-values.ts'
import { readDefinitions } from '../attributes/definitions.ts'
import type { Adding, Data } from '../context.ts'
import { countChanges } from '../growth/count-changes.ts'
import { type ChangeType, changeEntry, type HistoryEntry } from '../history/history.model.ts'
import { optedOutOf } from '../people/erased-addresses.ts'
import {
  type AttributesPatch,
  applyUpdate,
  type Change,
  type ContactUpdate,
  changesOf,
  limitGrowth,
  type Patch,
  updateOf,
} from './changes.ts'
import { type Contact, contactPositions } from './contact.model.ts'
import { changedEvent, type OptOut, unsubscribedEvent } from './contact-events.ts'
import { findContacts } from './find-contact.ts'
import { confirmBlocks, confirmOptOuts } from './opt-outs.ts'
import { orRefusal, succeeded } from './refusal.ts'

/** A requested change of a contact. */
export type ChangeRequest = {
  organizationId: string
  id: string
  type: ChangeType
  actor: Actor
  /** The request that it serves; requests of a group differ in theirs. */
  origin?: Origin
  patch: Patch | MakePatch
  /** Keys of addresses that had opted out when they were erased: a contact that gets one is opted out. */
  optedOut?: ReadonlySet<string>
  /** How a contact is opted out, if not by a user or an API token. */
  optOut?: OptOut
}
/** Returns the attributes to change, by their definitions. */
type MakePatch = (definitions: Definitions) => AttributesPatch
/** A change that was made. */
type Made = {
  before: Contact
  after: Contact
  update: ContactUpdate
  changes: Change[]
  request: ChangeRequest
  at: Date
}

/** Changes a contact. */
export type ChangeContact = (call: Call, id: string, type: ChangeType, patch: Patch | MakePatch) => Promise<Updated>

/**
 * Returns the function that changes a contact: the record, its history entry and the event in one transaction. A change
 * of nothing writes nothing. Concurrent changes share a transaction, which costs little more than one of them alone.
 */
export function contactChanger(context: Adding): ChangeContact {
  const changeSome = changeAll(context)
  const change = groupWrites<ChangeRequest, Made | undefined>(context.store, async (tx, requests, group) => {
    const emailKeys = requests.flatMap(emailKeysOf)
    const optedOut = await optedOutOf(context, requests[0]!.organizationId, emailKeys, tx)
    const withOptedOut = requests.map(request => ({ ...request, optedOut }))
    return changeSome(tx, withOptedOut, group)
  })
  return async (call, id, type, patch) => {
    const { organizationId } = call.caller
    const by = { actor: actorOf(call.caller), origin: originOf(call) }
    const request = { organizationId, id: String(objectId(id)), type, patch, ...by }
    const made = await change(`changes of ${organizationId}`, request, call) // not queued behind those that take positions
    if (made && endsMail(made))
      await untilReleased(context.collections.of(organizationId).holds, [request.id, made.after.emailKey])
    return updated()
  }
}

/** Returns the key of the address that a change gives to a contact. */
function emailKeysOf({ patch }: ChangeRequest): string[] {
  const email = typeof patch === 'function' ? undefined : patch.email
  return email === undefined ? [] : [emailKeyOf(email)]
}

/**
 * Whether a contact or its address gets less mail from now on. Mail that is being handed over is waited for before this is
 * answered.
 */
function endsMail({ before, after }: Made): boolean {
  const isNewlyBlocked = after.blocked && (!before.blocked || after.emailKey !== before.emailKey)
  return isNewlyBlocked || (after.unsubscribed && !before.unsubscribed)
}

/** Returns the function that changes contacts of one organization in a given transaction. */
export function changeAll(context: Data): WriteGroup<ChangeRequest, Made | undefined> {
  return async (tx, requests) => {
    const tenant = context.collections.of(requests[0]!.organizationId)
    const { contacts, attributes, history } = tenant
    const changesAttributes = requests.some(({ type }) => type === 'contact.attributes_updated')
    const definitions = changesAttributes ? await readDefinitions(attributes, tx) : new Map()
    const current = await findContacts(contacts, requests, tx)
    const results = requests.map(request => orRefusal(() => make(request, current, definitions)))
    const made = results.filter(succeeded)
    await contacts.bulkWrite(made.flatMap(writesOf), { tx, ordered: true })
    await confirmOptOuts(contacts, optedOutAgain(requests, current), tx)
    await confirmBlocks(contacts, blockedAgain(requests, current), tx)
    if (made.length === 0) return results
    await countChanges(tenant, made, tx)
    await contactPositions(context, contacts.organization).invalidate(
      tx,
      made.map(({ before }) => before.position),
    )
    await history.bulkWrite(made.map(entryOf).map(insertOf), { tx })
    await addEvents(tx, made.flatMap(eventsOf))
    return results
  }
}

/** Prepares one change; later ones of the same contact build on it. Undefined if nothing changes. */
function make(request: ChangeRequest, current: Map<string, Contact>, definitions: Definitions): Made | undefined {
  const before = current.get(request.id)
  if (!before) throw new AppError('contact.not_found')
  const changes = changesOf(before, patchFor(before, request, definitions))
  if (changes.length === 0) return undefined
  limitGrowth(before, changes)
  const at = new Date()
  const update = updateOf(before, changes, at)
  const after = applyUpdate(before, update)
  current.set(request.id, after)
  return { before, after, update, changes, request, at }
}

/** Returns what a request changes of a contact. An address that had opted out stays so with another contact. */
function patchFor({ emailKey }: Contact, request: ChangeRequest, definitions: Definitions): Patch {
  const { optedOut } = request
  const patch: Patch = typeof request.patch === 'function' ? request.patch(definitions) : request.patch
  const wanted = patch.email === undefined ? emailKey : emailKeyOf(patch.email)
  return wanted !== emailKey && optedOut?.has(wanted) ? { ...patch, unsubscribed: true } : patch
}

/** Returns the contacts, as they are now, that a request opts out. */
function optedOutAgain(requests: readonly ChangeRequest[], current: Map<string, Contact>) {
  const optOuts = requests.filter(
    ({ type, patch }) => type === 'contact.updated' && 'unsubscribed' in patch && patch.unsubscribed,
  )
  return optOuts.flatMap(({ id }) => current.get(id) ?? [])
}

/** Returns the contacts, as they are now, that a request blocks. */
function blockedAgain(requests: readonly ChangeRequest[], current: Map<string, Contact>) {
  return requests.flatMap(({ id, type }) => (type === 'contact.blocked' ? (current.get(id) ?? []) : []))
}

function writesOf({ before, after, update }: Made): BulkOperation[] {
  const filter = { _id: before._id }
  if (!('emailKey' in update.$set || 'user' in update.$set)) return [{ updateOne: { filter, update } }]
  // Delete and insert: not every server frees a unique key at once when a record is updated.
  return [{ deleteOne: { filter } }, insertOf(after)]
}

function entryOf({ before, changes, request, at }: Made): HistoryEntry {
  return changeEntry(before, request.type, at, request.actor, { changes, ...request.optOut })
}

function eventsOf({ before, after, changes, request, at }: Made): OutgoingEvent[] {
  const { actor, origin, optOut = { how: 'api' } } = request
  const changed = changedEvent(before, changes, actor, at, origin)
  const isOptOut = after.unsubscribed && !before.unsubscribed
  return isOptOut ? [changed, unsubscribedEvent(before, optOut, actor, at, origin)] : [changed]
}
