import { AppError } from '@rollcall/contract'
import { attributeChangeFields, type HistoryEntryJson, historyEntryFields } from '@rollcall/protos/gen/audience-v1.ts'
import type { ListOfRequest } from '@rollcall/protos/gen/types.ts'
import type { Call } from '@rollcall/rpc'
import { type FieldTable, insertOf, parseList, presenter, runList } from '@rollcall/store'
import type { ClientSession } from 'mongoose'
import type { Contact } from '../contacts/contact.model.ts'
import { lockContact } from '../contacts/lock-contact.ts'
import type { Context } from '../context.ts'
import { namesOf } from '../lists/contact-lists.ts'
import { createdEntry, type HistoryEntry, joinedEntry } from './history.model.ts'
import { visibleTrail } from './user-trail.ts'

const newestFirst = { at: -1, _id: -1 } as const
/** Changes of one entry stay in its order. */
const newestChangesFirst = { at: -1, entry: -1, index: 1 } as const

const entryFields: FieldTable = {
  ...historyEntryFields,
  'data.*': 'scalar',
}

const changeFields: FieldTable = {
  ...attributeChangeFields,
  from: 'scalar[]', // tags are arrays
  to: 'scalar[]',
}

const entryId = { $toString: '$_id' }
const fourDigits = { $substrBytes: [{ $toString: { $add: ['$index', 10_000] } }, 1, 4] }
/**
 * The id of a change. The first change of an entry has the id of the entry; in the ids of the others, the index of the
 * change replaces four digits of the random part.
 */
const changeId = {
  $cond: [
    { $eq: ['$index', 0] },
    '$_id',
    {
      $toObjectId: {
        $concat: [{ $substrBytes: [entryId, 0, 8] }, fourDigits, { $substrBytes: [entryId, 12, 12] }],
      },
    },
  ],
}

/** Lists the history of a contact and of the account it is linked to. */
export async function listTimeline(context: Context, request: ListOfRequest, call: Call) {
  parseList(request.list ?? {}, entryFields) // before the write below: an invalid request writes nothing
  const contact = await context.collections.of(call.caller.organizationId).contacts.get(request.id, 'contact')
  await writeDeferred(context, contact)
  const person = contact.user ? { $in: [contact._id, contact.user] } : contact._id
  return listEntries(context, request, call, contact, { person })
}

/** Lists the activities of the person, without changes of the record. */
export async function listActivities(context: Context, request: ListOfRequest, call: Call) {
  const contact = await context.collections.of(call.caller.organizationId).contacts.get(request.id, 'contact')
  return listEntries(context, request, call, contact, { person: contact._id, kind: 'activity' })
}

/** Lists the changes of a contact's fields, one by one. */
export async function listAttributesHistory(context: Context, { id, list }: ListOfRequest, { caller }: Call) {
  const { contacts, history } = context.collections.of(caller.organizationId)
  const contact = await contacts.get(id, 'contact')
  return runList({
    scope: history,
    base: { person: contact._id, 'data.changes': { $exists: true } },
    stages: [
      { $unwind: { path: '$data.changes', includeArrayIndex: 'index' } },
      {
        $project: {
          _id: changeId,
          entry: '$_id',
          index: 1,
          contact: '$person',
          type: 1,
          at: 1,
          actor: 1,
          key: '$data.changes.key',
          from: '$data.changes.from',
          to: '$data.changes.to',
          importJob: '$data.importJob',
          row: '$data.row',
        },
      },
    ],
    query: list ?? {},
    fields: changeFields,
    defaultSort: newestChangesFirst,
  })
}

function listEntries(
  context: Context,
  { list }: ListOfRequest,
  { caller }: Call,
  { _id: contact }: Contact,
  base: object,
) {
  return runList<HistoryEntry>({
    scope: context.collections.of(caller.organizationId).history,
    base,
    stages: [...visibleTrail(caller), { $addFields: { contact } }], // also in entries about the account
    query: list ?? {},
    fields: entryFields,
    present: presentEntry,
    defaultSort: newestFirst,
  })
}

/** Returns an entry as the API shows it. */
export const presentEntry = presenter<HistoryEntryJson>(entryFields)

/**
 * Writes the entries that an import deferred: those of contacts and memberships it created are written at the first read.
 * Locks the contact, so that concurrent changes of it and other reads conflict.
 */
export async function writeDeferred(context: Context, contact: Contact): Promise<void> {
  if ((await deferredOf(context, contact)).length === 0) return
  const { contacts, history } = context.collections.of(contact.organization)
  await context.store.transaction(async tx => {
    if (!(await lockContact(contacts, contact._id, tx))) throw new AppError('contact.not_found')
    const entries = await deferredOf(context, contact, tx)
    await history.bulkWrite(entries.map(insertOf), { tx })
  })
}

async function deferredOf(context: Context, contact: Contact, tx?: ClientSession): Promise<HistoryEntry[]> {
  const { history, memberships, lists } = context.collections.of(contact.organization)
  const joined = contact.lists?.length ? await memberships.find({ contact: contact._id }, { tx }) : []
  const imported = joined.filter(({ source }) => source === 'import')
  const names = await namesOf(lists, imported)
  const entries = imported.flatMap(each => {
    const list = names.get(String(each.list))
    return list ? [joinedEntry(each, list)] : []
  })
  if (contact.source === 'import') entries.push(createdEntry(contact))
  if (entries.length === 0) return []
  const ids = { $in: entries.map(({ _id }) => _id) }
  const written = await history.find({ _id: ids }, { tx, projection: { _id: 1 } })
  const known = new Set(written.map(({ _id }) => String(_id)))
  return entries.filter(({ _id }) => !known.has(String(_id)))
}
