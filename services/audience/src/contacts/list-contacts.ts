import type { HttpBody } from '@rollcall/contract'
import type { ExportContactsRequest } from '@rollcall/protos/gen/audience-v1.ts'
import type { ListRequest } from '@rollcall/protos/gen/types.ts'
import { actorOf, type Call } from '@rollcall/rpc'
import {
  addEvents,
  countRecords,
  event,
  type FieldTable,
  type ListColumns,
  listColumns,
  listRawRecords,
  objectId,
  type Positions,
  parseFilter,
  runList,
} from '@rollcall/store'
import { readDefinitions } from '../attributes/definitions.ts'
import type { Context } from '../context.ts'
import { contactColumns, contactFields, contactPositions, publicContact } from './contact.model.ts'
import { contactsAsCsv, csvFields } from './contact-csv.ts'
import { contactReferences } from './link-user.ts'

/** Lists contacts by the shared parameters. */
export async function listContacts(context: Context, { list }: ListRequest, call: Call) {
  const { caller } = call
  const query = list ?? {}
  const isPlain = !(query.filter || query.sort || query.projection) // names no field, so no attribute
  const definitions = isPlain
    ? new Map()
    : await readDefinitions(context.collections.of(caller.organizationId).attributes)
  return runList({ ...contactList(context, call, contactFields(definitions)), query })
}

/** Returns the options of a list of contacts. */
export function contactList(context: Context, call: Call, fields: FieldTable) {
  const options = listOptions(context, call.caller, fields)
  return { ...options, present: publicContact, populate: contactReferences(context, call) }
}

/** Streams contacts as CSV, in constant memory. The event is stored first: nothing leaves without an entry in the log. */
export async function exportContacts(
  context: Context,
  query: ExportContactsRequest,
  { caller }: Call,
): Promise<AsyncIterable<HttpBody>> {
  const definitions = await readDefinitions(context.collections.of(caller.organizationId).attributes)
  const options = listOptions(context, caller, contactFields(definitions))
  const found = listRawRecords({ ...options, query, select: csvFields })
  const _id = objectId(caller.organizationId)
  const { filter } = query
  const matched = await countRecords({ ...options, where: parseFilter(filter, options.fields) })
  const data = { matched, ...(filter !== undefined && { filter }), actor: actorOf(caller) }
  await context.store.transaction(tx => addEvents(tx, [event('audience.exported', { _id, organization: _id }, data)]))
  return contactsAsCsv(found, [...definitions.values()])
}

function listOptions(context: Context, { organizationId }: Call['caller'], fields: FieldTable) {
  const positions = contactPositions(context, organizationId)
  const total = async () => (await positions.read()).total
  const columns = openColumns(context, organizationId, positions)
  return {
    scope: context.collections.of(organizationId).contacts,
    fields,
    positions,
    total,
    matches: context.matches,
    columns,
  }
}

/** Opens the columns of an organization's contacts. */
export function openColumns(context: Context, organizationId: string, positions: Positions): ListColumns {
  const { store, collections, patterns: matcher } = context
  return listColumns(store, collections.of(organizationId), { positions, fields: contactColumns, matcher })
}
