import type { ListOfRequest } from '@rollcall/protos/gen/types.ts'
import type { Call } from '@rollcall/rpc'
import { runList } from '@rollcall/store'
import { readDefinitions } from '../attributes/definitions.ts'
import { type Contact, contactFields, publicContact } from '../contacts/contact.model.ts'
import { contactReferences } from '../contacts/link-user.ts'
import type { Context } from '../context.ts'
import { type Membership, memberPositions } from './membership.model.ts'

/** Contacts of one query; a list without pages comes in larger parts. */
const AT_ONCE = 500

/**
 * Lists the contacts of a list, last added first, every page at the same cost. With a filter or sort, queries the contacts
 * instead.
 */
export async function listMembers(context: Context, { id, list: parameters }: ListOfRequest, call: Call) {
  const { contacts, attributes, memberships, lists } = context.collections.of(call.caller.organizationId)
  const list = await lists.get(id, 'list')
  const query = parameters ?? {}
  const shown = {
    query,
    fields: contactFields(await readDefinitions(attributes)),
    populate: contactReferences(context, call),
  }
  if (isBlank(query.filter) && isBlank(query.sort)) {
    const contactsOf = async (members: Membership[]): Promise<Contact[]> => {
      const byId = new Map<string, Contact>()
      for (let from = 0; from < members.length; from += AT_ONCE) {
        const ids = members.slice(from, from + AT_ONCE).map(({ contact }) => contact)
        for (const contact of await contacts.find({ _id: { $in: ids } })) byId.set(String(contact._id), contact)
      }
      return members.flatMap(({ contact }) => byId.get(String(contact)) ?? [])
    }
    return runList({
      ...shown,
      scope: memberships,
      base: { list: list._id },
      positions: memberPositions(context, list.organization, list._id),
      resolve: contactsOf,
      present: publicContact,
    })
  }
  const total = async () => list.memberCount
  return runList({ ...shown, scope: contacts, base: { lists: list._id }, total, present: publicContact })
}

/** Whether a list parameter is missing or empty. */
function isBlank(parameter: string | undefined): boolean {
  return parameter === undefined || parameter === '' || parameter.trim() === '{}'
}
