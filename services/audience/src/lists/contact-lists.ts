import { listMembershipFields } from '@rollcall/protos/gen/audience-v1.ts'
import type { ListOfRequest } from '@rollcall/protos/gen/types.ts'
import type { Call } from '@rollcall/rpc'
import { type FieldTable, runList, type Scope } from '@rollcall/store'
import type { Types } from 'mongoose'
import type { Context } from '../context.ts'
import type { AudienceList } from './list.model.ts'
import type { Membership } from './membership.model.ts'

const membershipFields: FieldTable = listMembershipFields

/** Lists the lists of a contact. */
export async function listContactLists(context: Context, { id, list }: ListOfRequest, { caller }: Call) {
  const { contacts, memberships, lists } = context.collections.of(caller.organizationId)
  const { _id: contact, lists: joined = [] } = await contacts.get(id, 'contact')
  // Leaves out memberships of deleted lists, which a job still removes.
  const named = await namesOf(
    lists,
    joined.map(list => ({ list })),
  )
  const known = [...named.values()]
  return runList<Named>({
    scope: memberships as Scope<object> as Scope<Named>,
    base: { contact, list: { $in: known.map(({ _id }) => _id) } },
    stages: [{ $addFields: { list: nameOf(known) } }], // before the filter and sort, which use the shown value
    query: list ?? {},
    fields: membershipFields,
    defaultSort: { addedAt: -1, _id: -1 },
  })
}

type ListName = Pick<AudienceList, '_id' | 'name'>
type Named = Omit<Membership, 'list'> & { list: ListName }

/** In a pipeline: id and name of a membership's list, out of these. */
function nameOf(known: readonly ListName[]) {
  const isItsList = { $eq: ['$$each._id', '$list'] }
  return { $arrayElemAt: [{ $filter: { input: { $literal: known }, as: 'each', cond: isItsList } }, 0] }
}

/** Returns the lists of memberships by id, with their names. */
export async function namesOf(lists: Scope<AudienceList>, found: readonly { list: Types.ObjectId }[]) {
  const ids = found.map(({ list }) => list)
  const named = ids.length > 0 ? await lists.find({ _id: { $in: ids } }, { projection: { name: 1 } }) : []
  return new Map(named.map(({ _id, name }) => [String(_id), { _id, name }]))
}
