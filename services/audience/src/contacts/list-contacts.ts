import type { ExportContactsRequest } from '@rollcall/protos/gen/audience-v1.ts'
import type { ListRequest } from '@rollcall/protos/gen/types.ts'
import type { Call, HttpBody } from '@rollcall/rpc'
import { parseFilter, parseSort, runList, type SortOrder, withTieBreak } from '@rollcall/store'
import { readDefinitions } from '../attributes/definitions.ts'
import type { Context } from '../context.ts'
import { type Contact, contactFields, publicContact } from './contact.model.ts'
import { contactsAsCsv, csvFields } from './contact-csv.ts'
import { contactPositions } from './contact-positions.ts'

const newestFirst: SortOrder = { _id: -1 }
const batchSize = 1000

/** Lists contacts by the shared parameters. */
export async function listContacts(context: Context, { list }: ListRequest, { caller }: Call) {
  const { contacts, attributes } = context.of(caller)
  const places = contactPositions(context, caller.organizationId)
  return runList({
    scope: contacts,
    query: list ?? {},
    fields: contactFields(await readDefinitions(attributes)),
    present: publicContact,
    positions: places,
    total: async () => (await places.read()).total,
  })
}

/** Streams contacts as CSV, in constant memory. */
export async function exportContacts(
  context: Context,
  request: ExportContactsRequest,
  { caller }: Call,
): Promise<AsyncIterable<HttpBody>> {
  const { contacts, attributes } = context.of(caller)
  const definitions = await readDefinitions(attributes)
  const fields = contactFields(definitions)
  const projection = Object.fromEntries(csvFields.map(name => [name, 1 as const]))
  const found = contacts.stream<Contact>(
    [
      { $match: parseFilter(request.filter, fields) },
      { $sort: withTieBreak(parseSort(request.sort, fields) ?? newestFirst) },
      { $project: projection },
    ],
    { batchSize },
  )
  return contactsAsCsv(found, [...definitions.values()])
}
