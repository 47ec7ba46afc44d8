import { AppError, updated } from '@rollcall/contract'
import type { Updated } from '@rollcall/protos/gen/types.ts'
import { type Actor, actorOf, type Call } from '@rollcall/rpc'
import {
  addEvents,
  type BulkOperation,
  groupWrites,
  type OutgoingEvent,
  objectId,
  type WriteGroup,
} from '@rollcall/store'
import type { Definitions } from '../attributes/attribute-values.ts'
import { readDefinitions } from '../attributes/definitions.ts'
import type { Data } from '../context.ts'
import { type ChangeType, changeEntry, type HistoryEntry } from '../history/history.model.ts'
import { insertOf } from '../insert-of.ts'
import { moveListCounts } from '../lists/list-counts.ts'
import { applyUpdate, type Change, type ContactUpdate, changesOf, type Patch, updateOf } from './changes.ts'
import type { Contact } from './contact.model.ts'
import { changedEvent } from './contact-events.ts'
import { contactPositions } from './contact-positions.ts'
import { findContacts } from './find-contact.ts'
import { confirmOptOuts } from './opt-outs.ts'
import { orRefusal, succeeded } from './refusal.ts'

/** A change that somebody wants of a contact. */
export type ChangeWish = { organizationId: string; id: string; type: ChangeType; actor: Actor; patchOf: PatchOf }
/** What the contact is to be; `definitions` are at hand for changes of attributes. */
type PatchOf = (definitions: Definitions) => Patch
/** A wish come true. */
type Made = { before: Contact; after: Contact; update: ContactUpdate; changes: Change[]; wish: ChangeWish; at: Date }

/** Makes a change of a contact. */
export type ChangeContact = (call: Call, id: string, type: ChangeType, patchOf: PatchOf) => Promise<Updated>

/**
 * Changes contacts: the record, its history entry and the event in one transaction. What stays the same leaves no trace.
 * Changes wanted at the same time share a transaction, which costs little more than one for each of them alone.
 */
export function contactChanger(context: Data): ChangeContact {
  const change = groupWrites(context.store, changeAll(context))
  return async ({ caller }, id, type, patchOf) => {
    const { organizationId } = caller
    const wish = { organizationId, id: String(objectId(id)), type, actor: actorOf(caller), patchOf }
    await change(`changes of ${organizationId}`, wish) // not in the queue of those that take places in the list
    return updated()
  }
}

/** Writes changes of contacts of one organization in the transaction given. */
export function changeAll(context: Data): WriteGroup<ChangeWish, Made | undefined> {
  return async (tx, wishes) => {
    const { contacts, attributes, history, lists } = context.collections.of(wishes[0]!.organizationId)
    const wantsAttributes = wishes.some(({ type }) => type === 'contact.attributes_updated')
    const definitions = wantsAttributes ? await readDefinitions(attributes, tx) : new Map()
    const current = await findContacts(contacts, wishes, tx)
    const results = wishes.map(wish => orRefusal(() => make(wish, current, definitions)))
    const made = results.filter(succeeded)
    await contacts.bulkWrite(made.flatMap(writesOf), { tx, ordered: true })
    await confirmOptOuts(contacts, optedOutAgain(wishes, current, definitions), tx)
    if (made.length === 0) return results
    await contactPositions(context, contacts.organization).invalidate(tx)
    await history.bulkWrite(made.map(entryOf).map(insertOf), { tx })
    await moveListCounts(lists, made, tx)
    await addEvents(tx, made.map(eventOf))
    return results
  }
}

/** Works out one change; the next one of the same contact goes on from there. Undefined where nothing changes. */
function make(wish: ChangeWish, current: Map<string, Contact>, definitions: Definitions): Made | undefined {
  const before = current.get(wish.id)
  if (!before) throw new AppError('contact.not_found')
  const changes = changesOf(before, wish.patchOf(definitions))
  if (changes.length === 0) return undefined
  const at = new Date()
  const update = updateOf(before, changes, at)
  const after = applyUpdate(before, update)
  current.set(wish.id, after)
  return { before, after, update, changes, wish, at }
}

/** Contacts, as they are now, that somebody wants opted out. */
function optedOutAgain(wishes: readonly ChangeWish[], current: Map<string, Contact>, definitions: Definitions) {
  const wanted = wishes.filter(({ type, patchOf }) => type === 'contact.updated' && patchOf(definitions).unsubscribed)
  return wanted.flatMap(({ id }) => current.get(id) ?? [])
}

function writesOf({ before, after, update }: Made): BulkOperation[] {
  const filter = { _id: before._id }
  if (!('emailKey' in update.$set || 'user' in update.$set)) return [{ updateOne: { filter, update } }]
  // What is given up must be free for others at once: not every server frees a unique key when a record is updated.
  return [{ deleteOne: { filter } }, insertOf(after)]
}

function entryOf({ before, changes, wish, at }: Made): HistoryEntry {
  return changeEntry(before, wish.type, at, wish.actor, { changes })
}

function eventOf({ before, changes, wish, at }: Made): OutgoingEvent {
  return changedEvent(before, changes, wish.actor, at)
}
