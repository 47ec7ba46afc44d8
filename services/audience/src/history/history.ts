import type { ListOfRequest } from '@rollcall/protos/gen/types.ts'
import type { Call } from '@rollcall/rpc'
import { type FieldTable, presenter, runList } from '@rollcall/store'
import type { Contact } from '../contacts/contact.model.ts'
import { findContact } from '../contacts/find-contact.ts'
import type { Context } from '../context.ts'
import { createdEntry, type HistoryEntry } from './history.model.ts'

const newestFirst = { at: -1, _id: -1 } as const
const newestChangesFirst = { ...newestFirst, index: 1 } as const

const actorFields: FieldTable = {
  actor: 'object',
  'actor.kind': 'string',
  'actor.id': 'string',
  'actor.name': 'string',
}

const entryFields: FieldTable = {
  contact: { type: 'objectId', path: 'person' },
  subject: 'string',
  type: 'string',
  at: 'date',
  ...actorFields,
  data: 'object',
}

const changeFields: FieldTable = {
  contact: 'objectId',
  type: 'string',
  at: 'date',
  ...actorFields,
  key: 'string',
  from: 'scalar',
  to: 'scalar',
  importJob: 'objectId',
  row: 'number',
}

/** Everything that happened to a contact. */
export async function listTimeline(context: Context, request: ListOfRequest, call: Call) {
  const { contacts } = context.of(call.caller)
  const contact = await findContact(contacts, request.id)
  await writeCreation(context, contact)
  return listEntries(context, request, call, { person: contact._id })
}

/** What the person did, as opposed to what was done to the record. */
export async function listActivities(context: Context, request: ListOfRequest, call: Call) {
  const contact = await findContact(context.of(call.caller).contacts, request.id)
  return listEntries(context, request, call, { person: contact._id, kind: 'activity' })
}

/** The single changes of a contact's fields, out of the entries that hold them. */
export async function listAttributesHistory(context: Context, { id, list }: ListOfRequest, { caller }: Call) {
  const { contacts, history } = context.of(caller)
  const contact = await findContact(contacts, id)
  return runList({
    scope: history,
    base: { person: contact._id, 'data.changes': { $exists: true } },
    stages: [
      { $unwind: { path: '$data.changes', includeArrayIndex: 'index' } },
      {
        $project: {
          contact: '$person',
          type: 1,
          at: 1,
          actor: 1,
          key: '$data.changes.key',
          from: '$data.changes.from',
          to: '$data.changes.to',
          importJob: '$data.importJob',
          row: '$data.row',
          index: 1,
        },
      },
    ],
    query: list ?? {},
    fields: changeFields,
    defaultSort: newestChangesFirst,
  })
}

function listEntries(context: Context, { list }: ListOfRequest, { caller }: Call, base: object) {
  return runList<HistoryEntry>({
    scope: context.of(caller).history,
    base,
    query: list ?? {},
    fields: entryFields,
    present: presentEntry,
    defaultSort: newestFirst,
  })
}

const presentEntry = presenter(entryFields)

/**
 * An import writes no entry for the contacts it creates, since theirs follows from themselves; it is written down when
 * somebody first looks.
 */
async function writeCreation(context: Context, contact: Contact): Promise<void> {
  if (contact.source !== 'import') return
  const { _id, organization: _organization, ...entry } = createdEntry(contact)
  const { history } = context.of({ organizationId: String(contact.organization) })
  await history.updateOne({ _id }, { $setOnInsert: entry }, { upsert: true })
}
