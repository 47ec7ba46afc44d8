import type { ListOfRequest } from '@rollcall/protos/gen/types.ts'
import type { Call } from '@rollcall/rpc'
import { type FieldTable, runList, type Scope } from '@rollcall/store'
import type { Types } from 'mongoose'
import { findContact } from '../contacts/find-contact.ts'
import type { Context } from '../context.ts'
import type { AudienceList } from './list.model.ts'
import type { Membership } from './membership.model.ts'

const membershipFields: FieldTable = {
  list: 'object',
  'list._id': { type: 'objectId', path: 'list' },
  addedAt: 'date',
  addedBy: 'object',
  'addedBy.kind': 'string',
  'addedBy.id': 'string',
  'addedBy.name': 'string',
  source: 'string',
}

/** The lists a contact is on. */
export async function listContactLists(context: Context, { id, list }: ListOfRequest, { caller }: Call) {
  const { contacts, memberships, lists, listJobs } = context.of(caller)
  const { _id: contact } = await findContact(contacts, id)
  // Memberships of a list that is deleted are still on their way out.
  const deleted = await listJobs.find({ kind: 'drop' }, { projection: { list: 1 } })
  const gone = deleted.map(({ list }) => list._id)
  return runList({
    scope: memberships,
    base: { contact, ...(gone.length > 0 && { list: { $nin: gone } }) },
    query: list ?? {},
    fields: membershipFields,
    defaultSort: { addedAt: -1, _id: -1 },
    resolve: found => withLists(lists, found),
    present,
  })
}

type Named = Omit<Membership, 'list'> & { list: Pick<AudienceList, '_id' | 'name'> }

async function withLists(lists: Scope<AudienceList>, found: Membership[]): Promise<Named[]> {
  const names = await namesOf(lists, found)
  return found.flatMap(membership => {
    const list = names.get(String(membership.list))
    return list ? [{ ...membership, list }] : []
  })
}

/** The lists of memberships by id, with their names. */
export async function namesOf(lists: Scope<AudienceList>, found: readonly { list: Types.ObjectId }[]) {
  const ids = found.map(({ list }) => list)
  const named = ids.length > 0 ? await lists.find({ _id: { $in: ids } }, { projection: { name: 1 } }) : []
  return new Map(named.map(({ _id, name }) => [String(_id), { _id, name }]))
}

function present({ _id, list, addedAt, addedBy, source }: Named): object {
  return { _id, id: _id, list, addedAt, addedBy, source }
}
