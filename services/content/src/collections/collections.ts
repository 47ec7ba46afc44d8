import { AppError, type HttpBody, json, updated } from '@rollcall/contract'
import type { CreateCollectionRequest, UpdateCollectionRequest } from '@rollcall/protos/gen/content-v1.ts'
import type { Updated } from '@rollcall/protos/gen/types.ts'
import { actorOf, type Call, type Handlers } from '@rollcall/rpc'
import { addEvents, changedFields, changesBetween, event, requireRoom, runList } from '@rollcall/store'
import type { Context } from '../context.ts'
import { checkContact, checkMapping, readForm } from '../forms/form.ts'
import { type Collection, collectionFields, eventCollection, publicCollection } from './collection.model.ts'
import { checkChange, type Field, readFields } from './fields.ts'

const SLUG = /^[a-z][a-z0-9-]{1,39}$/

/** Handlers of collections. */
export const collectionHandlers = (context: Context): Handlers<'rollcall.content.v1.Collections'> => ({
  listCollections: ({ list }, { caller }) =>
    runList({
      scope: context.collections.of(caller.organizationId).collections,
      query: list ?? {},
      fields: collectionFields,
      present: publicCollection,
    }),

  createCollection: (request, call) => createCollection(context, request, call),

  getCollection: async ({ id }, { caller }) =>
    json(publicCollection(await context.collections.of(caller.organizationId).collections.get(id, 'collection'))),

  updateCollection: (request, call) => updateCollection(context, request, call),
  deleteCollection: ({ id }, call) => deleteCollection(context, id, call),
})

async function createCollection(context: Context, request: CreateCollectionRequest, call: Call): Promise<HttpBody> {
  const { caller } = call
  const { collections } = context.collections.of(caller.organizationId)
  const { name, slug, description = '' } = request
  checkSlug(slug)
  const fields = readFields(request.fields)
  const form = request.form ? readForm(request.form) : null
  if (form) {
    checkMapping(form, fields)
    await checkContact(context, form, call)
  }
  const draft = { name, slug, description, fields, form, createdBy: actorOf(caller) }
  const quota = { limit: context.config.COLLECTIONS_PER_ORGANIZATION, what: 'collections per organization' }
  const created = await context.store.transaction(
    async tx => {
      await requireRoom(collections, quota, tx)
      const collection = await collections.insertOne(draft, { tx })
      const data = { collection: eventCollection(collection), actor: draft.createdBy }
      await addEvents(tx, [event('collection.created', collection, data)])
      return collection
    },
    { queue: `collections of ${caller.organizationId}` },
  )
  return json(publicCollection(created))
}

async function updateCollection(context: Context, request: UpdateCollectionRequest, call: Call): Promise<Updated> {
  const { id, name, slug, description } = request
  if (slug !== undefined) checkSlug(slug)
  const fields = request.fields.length > 0 ? readFields(request.fields) : undefined
  const form = request.form && readForm(request.form)
  if (form) await checkContact(context, form, call)
  const changes = {
    ...(name !== undefined && { name }),
    ...(slug !== undefined && { slug }),
    ...(description !== undefined && { description }),
    ...(fields && { fields }),
    ...(form && { form }),
  }
  await context.store.transaction(
    async tx => {
      const { collections, entries } = context.collections.of(call.caller.organizationId, tx)
      const before = await collections.get(id, 'collection')
      const filled = fields && before.entryCount > 0 ? checkChange(before.fields, fields) : []
      const mapped = form ?? before.form
      if (mapped) checkMapping(mapped, fields ?? before.fields)
      const changed = changedFields(before, changes)
      if (changed.length === 0) return
      const after = (await collections.rewriteOne({ _id: before._id }, changes, { tx }))!
      for (const field of filled) await entries.updateMany(withoutValue(before, field), { $set: defaultOf(field) })
      const collection = eventCollection(after)
      const data = { collection, changed, changes: changesBetween(changed, eventCollection(before), collection) }
      await addEvents(tx, [event('collection.updated', after, { ...data, actor: actorOf(call.caller) })])
    },
    { queue: queueOf(id) },
  )
  return updated()
}

/** Deletes the collection now, and its entries by a job. */
async function deleteCollection(context: Context, id: string, { caller }: Call): Promise<HttpBody> {
  const deleted = await context.store.transaction(
    async tx => {
      const { collections, deletions } = context.collections.of(caller.organizationId, tx)
      const collection = await collections.findOneAndDelete({ _id: id })
      if (!collection) throw new AppError('collection.not_found')
      await deletions.insertOne({ _id: collection._id, dueAt: new Date() })
      const data = { collection: eventCollection(collection), actor: actorOf(caller) }
      await addEvents(tx, [event('collection.deleted', collection, data)])
      return collection
    },
    { queue: queueOf(id) },
  )
  context.deletionJob.wake()
  return json(publicCollection(deleted))
}

/** Returns the queue of transactions that write a collection and its entries. */
export function queueOf(id: string): string {
  return `collection ${id}`
}

function withoutValue({ _id }: Collection, { slug }: Field) {
  return { parent: _id, [`values.${slug}`]: { $exists: false } }
}

function defaultOf(field: Field) {
  return { [`values.${field.slug}`]: field.default }
}

function checkSlug(slug: string): void {
  if (SLUG.test(slug)) return
  const reason = 'must be 2 to 40 lower-case letters, digits and hyphens, from a letter'
  throw new AppError('request.invalid_field', { path: 'slug', reason })
}
