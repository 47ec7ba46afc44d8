import { type ContactEmailJson, contactEmailFields } from '@rollcall/protos/gen/audience-v1.ts'
import type { ListOfRequest } from '@rollcall/protos/gen/types.ts'
import type { Call } from '@rollcall/rpc'
import { type FieldTable, presenter, runList } from '@rollcall/store'
import type { Context } from '../context.ts'

const emailFields: FieldTable = contactEmailFields

/** Lists the emails to a contact. */
export async function listEmails(context: Context, { id, list }: ListOfRequest, { caller }: Call) {
  const { contacts, emails } = context.collections.of(caller.organizationId)
  const { _id: contact } = await contacts.get(id, 'contact')
  return runList({
    scope: emails,
    base: { contact },
    query: list ?? {},
    fields: emailFields,
    defaultSort: { at: -1, _id: -1 },
  })
}

/** Returns an email as the API shows it. */
export const presentEmail = presenter<ContactEmailJson>(emailFields)
