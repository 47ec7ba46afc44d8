import { AppError } from '@rollcall/contract'
import { attributeChangeFields, historyEntryFields } from '@rollcall/protos/gen/audience-v1.ts'
import type { ListOfRequest } from '@rollcall/protos/gen/types.ts'
import type { Call } from '@rollcall/rpc'
import { type FieldTable, parseList, presenter, runList } from '@rollcall/store'
import type { ClientSession } from 'mongoose'
import type { Contact } from '../contacts/contact.model.ts'
import type { Context } from '../context.ts'
import { insertOf } from '../insert-of.ts'
import { namesOf } from '../lists/contact-lists.ts'
import { createdEntry, type HistoryEntry, joinedEntry } from './history.model.ts'
import { visibleTrail } from './user-trail.ts'

const newestFirst = { at: -1, _id: -1 } as const
/** Those of one entry in its order. */
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
 * The id of a change, which is stored within its entry: that of the entry for the first one; for the others its place
 * stands where an id has what tells processes apart.
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

/** Everything that happened to a contact, and while it is linked to an account, with that account too. */
export async function listTimeline(context: Context, request: ListOfRequest, call: Call) {
  parseList(request.list ?? {}, entryFields) // what is refused is not to write anything either
  const contact = await context.collections.of(call.caller.organizationId).contacts.get(request.id, 'contact')
  await writeUnwritten(context, contact)
  const person = contact.user ? { $in: [contact._id, contact.user] } : contact._id
  return listEntries(context, request, call, contact, { person })
}

/** What the person did, as opposed to what was done to the record. */
export async function listActivities(context: Context, request: ListOfRequest, call: Call) {
  const contact = await context.collections.of(call.caller.organizationId).contacts.get(request.id, 'contact')
  return listEntries(context, request, call, contact, { person: contact._id, kind: 'activity' })
}

/** The single changes of a contact's fields, out of the entries that hold them. */
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
    stages: [...visibleTrail(caller), { $addFields: { contact } }], // also of what is about the account
    query: list ?? {},
    fields: entryFields,
    present: presentEntry,
    defaultSort: newestFirst,
  })
}

const presentEntry = presenter(entryFields)

/**
 * An import writes no entries for what follows from the contacts it creates and from the memberships it makes; they are
 * written down when somebody first looks. The contact is written with them: whoever deletes it, ends a membership or looks
 * at the same time comes before or after.
 */
async function writeUnwritten(context: Context, contact: Contact): Promise<void> {
  if ((await unwrittenOf(context, contact)).length === 0) return
  const { contacts, history } = context.collections.of(contact.organization)
  await context.store.transaction(async tx => {
    const noteLook = { $inc: { looks: 1 } }
    const { matchedCount } = await contacts.updateOne({ _id: contact._id }, noteLook, { tx, timestamps: false })
    if (matchedCount === 0) throw new AppError('contact.not_found')
    const entries = await unwrittenOf(context, contact, tx)
    await history.bulkWrite(entries.map(insertOf), { tx })
  })
}

async function unwrittenOf(context: Context, contact: Contact, tx?: ClientSession): Promise<HistoryEntry[]> {
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
