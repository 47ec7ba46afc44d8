import type { HttpBody } from '@rollcall/contract'
import type { ExportContactsRequest } from '@rollcall/protos/gen/audience-v1.ts'
import type { ListRequest } from '@rollcall/protos/gen/types.ts'
import type { Call } from '@rollcall/rpc'
import { listRecords, runList } from '@rollcall/store'
import type { Definitions } from '../attributes/attribute-values.ts'
import { readDefinitions } from '../attributes/definitions.ts'
import type { Context } from '../context.ts'
import { contactFields, contactPositions, publicContact } from './contact.model.ts'
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
  const options = listOptions(context, caller, definitions)
  const populate = contactReferences(context, call)
  return runList({ ...options, query, present: publicContact, populate })
}

/** Streams contacts as CSV, in constant memory. */
export async function exportContacts(
  context: Context,
  query: ExportContactsRequest,
  { caller }: Call,
): Promise<AsyncIterable<HttpBody>> {
  const definitions = await readDefinitions(context.collections.of(caller.organizationId).attributes)
  const found = listRecords({ ...listOptions(context, caller, definitions), query, select: csvFields })
  return contactsAsCsv(found, [...definitions.values()])
}

function listOptions(context: Context, caller: Call['caller'], definitions: Definitions) {
  const positions = contactPositions(context, caller.organizationId)
  const total = async () => (await positions.read()).total
  const { contacts: scope } = context.collections.of(caller.organizationId)
  return { scope, fields: contactFields(definitions), positions, total, matches: context.matches }
}
