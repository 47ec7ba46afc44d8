import { type HttpBody, json, updated } from '@rollcall/contract'
import type { CreateListRequest, UpdateListRequest } from '@rollcall/protos/gen/audience-v1.ts'
import type { Updated } from '@rollcall/protos/gen/types.ts'
import { actorOf, type Call, type Handlers } from '@rollcall/rpc'
import { addEvents, changedFields, changesBetween, event, requireRoom, runList, type Scope } from '@rollcall/store'
import type { ClientSession } from 'mongoose'
import { distinctTags } from '../contacts/changes.ts'
import type { Context } from '../context.ts'
import { requireUnused } from '../in-use.ts'
import { type AudienceList, listFields, nameKeyOf, publicList } from './list.model.ts'
import { listQueue } from './list-counts.ts'
import { listMembers } from './list-members.ts'
import { membersAdder, membersRemover } from './select-members.ts'

/** The use cases of lists and their members. */
export function lists(context: Context): Handlers<'rollcall.audience.v1.Lists'> {
  return {
    listLists: ({ list }, { caller }) =>
      runList({
        scope: context.collections.of(caller.organizationId).lists,
        query: list ?? {},
        fields: listFields,
        present: publicList,
      }),

    createList: (request, call) => createList(context, request, call),

    getList: async ({ id }, { caller }) =>
      json(publicList(await context.collections.of(caller.organizationId).lists.get(id, 'list'))),

    updateList: (request, call) => updateList(context, request, call),
    deleteList: ({ id }, call) => deleteList(context, id, call),

    listMembers: (request, call) => listMembers(context, request, call),
    addMembers: membersAdder(context),
    removeMembers: membersRemover(context),
  }
}

async function createList(context: Context, request: CreateListRequest, { caller }: Call): Promise<HttpBody> {
  const { lists } = context.collections.of(caller.organizationId)
  const createdBy = actorOf(caller)
  const draft = { ...request, nameKey: nameKeyOf(request.name), tags: distinctTags(request.tags), createdBy }
  const quota = { limit: context.limits.lists, what: 'lists per organization' }
  const created = await context.store.transaction(
    async tx => {
      await requireRoom(lists, quota, tx)
      const list = await lists.insertOne(draft, { tx })
      await addEvents(tx, [event('list.created', list, { list: publicList(list), actor: createdBy })])
      return list
    },
    { queue: `lists of ${caller.organizationId}` },
  )
  return json(publicList(created))
}

async function updateList(
  context: Context,
  { id, tags, ...rest }: UpdateListRequest,
  { caller }: Call,
): Promise<Updated> {
  const { lists } = context.collections.of(caller.organizationId)
  const wanted = { ...rest, ...(tags !== undefined && { tags: distinctTags(tags) }) }
  await context.store.transaction(async tx => {
    const before = await lists.get(id, 'list', { tx })
    const changed = changedFields(before, wanted)
    if (changed.length === 0) return
    const after = await write(lists, before, wanted, tx)
    const list = publicList(after)
    const data = { list, changed, changes: changesBetween(changed, publicList(before), list), actor: actorOf(caller) }
    await addEvents(tx, [event('list.updated', after, data)])
  })
  return updated()
}

type Editable = Omit<UpdateListRequest, 'id'>

async function write(
  lists: Scope<AudienceList>,
  before: AudienceList,
  wanted: Editable,
  tx: ClientSession,
): Promise<AudienceList> {
  const filter = { _id: before._id }
  if (wanted.name !== undefined && wanted.name !== before.name) {
    const rewritten = await lists.rewriteOne(filter, { ...wanted, nameKey: nameKeyOf(wanted.name) }, { tx })
    return rewritten!
  }
  const after = { ...before, ...wanted, updatedAt: new Date() }
  await lists.updateOne(filter, { $set: { ...wanted, updatedAt: after.updatedAt } }, { tx })
  return after
}

/** Deletes a list at once; a job removes its memberships. */
async function deleteList(context: Context, id: string, call: Call): Promise<HttpBody> {
  const { caller } = call
  const { lists, listJobs } = context.collections.of(caller.organizationId)
  await requireUnused(context, 'list', String((await lists.get(id, 'list'))._id), call)
  const actor = actorOf(caller)
  const remove = async (tx: ClientSession) => {
    const list = await lists.get(id, 'list', { tx })
    await lists.deleteOne({ _id: list._id }, { tx })
    const draft = { kind: 'drop', key: String(list._id), list: { _id: list._id, name: list.name }, actor } as const
    const job = await listJobs.insertOne(draft, { tx })
    await addEvents(tx, [event('list.deleted', list, { list: publicList(list), actor })])
    return { list, job }
  }
  const { list, job } = await context.store.transaction(remove, { queue: listQueue(id) })
  context.dropMembersJob.wake(job)
  return json(publicList(list))
}
