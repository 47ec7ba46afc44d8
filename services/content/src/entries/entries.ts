import { AppError, type HttpBody, json, updated } from '@rollcall/contract'
import { csvFile } from '@rollcall/csv'
import type {
  CreateEntryRequest,
  EntryRequest,
  ExportEntriesRequest,
  UpdateEntryRequest,
} from '@rollcall/protos/gen/content-v1.ts'
import type { ListOfRequest, Updated } from '@rollcall/protos/gen/types.ts'
import { actorOf, type Call, type Handlers } from '@rollcall/rpc'
import { addEvents, changedFields, changesBetween, event, listRecords, runList } from '@rollcall/store'
import { queueOf } from '../collections/collections.ts'
import { mergedValues } from '../collections/values.ts'
import type { Context } from '../context.ts'
import { addEntry } from './add-entry.ts'
import { csvColumns } from './entries-csv.ts'
import { entryFields, publicEntry } from './entry.model.ts'
import { reserveValues } from './unique-values.ts'

/** Handlers of the entries of collections. */
export const entryHandlers = (context: Context): Handlers<'rollcall.content.v1.Entries'> => ({
  listEntries: (request, call) => listEntries(context, request, call),
  createEntry: (request, call) => createEntry(context, request, call),
  exportEntries: (request, call) => exportEntries(context, request, call),
  getEntry: (request, call) => getEntry(context, request, call),
  updateEntry: (request, call) => updateEntry(context, request, call),
  deleteEntry: (request, call) => deleteEntry(context, request, call),
})

const pathOf = (slug: string) => `values.${slug}`

async function listEntries(context: Context, { id, list }: ListOfRequest, { caller }: Call) {
  const { collections, entries } = context.collections.of(caller.organizationId)
  const { _id: parent, fields, entryCount } = await collections.get(id, 'collection')
  return runList({
    scope: entries,
    base: { parent },
    query: list ?? {},
    fields: entryFields(fields),
    present: publicEntry,
    total: async () => entryCount,
  })
}

async function createEntry(context: Context, { id, values }: CreateEntryRequest, { caller }: Call): Promise<HttpBody> {
  const entry = { given: values, source: 'api', createdBy: actorOf(caller), pathOf } as const
  const added = await context.store.transaction(
    tx => addEntry(context, context.collections.of(caller.organizationId, tx), id, entry, tx),
    { queue: queueOf(id) },
  )
  return json(publicEntry(added.entry))
}

async function exportEntries(context: Context, { id, ...query }: ExportEntriesRequest, { caller }: Call) {
  const { collections, entries } = context.collections.of(caller.organizationId)
  const { _id: parent, fields } = await collections.get(id, 'collection')
  const found = listRecords({ scope: entries, base: { parent }, query, fields: entryFields(fields) })
  return csvFile(csvColumns(fields), found)
}

async function getEntry(context: Context, { id, entryId }: EntryRequest, { caller }: Call): Promise<HttpBody> {
  const { collections, entries } = context.collections.of(caller.organizationId)
  const { _id: parent } = await collections.get(id, 'collection', { projection: { _id: 1 } })
  const entry = await entries.findOne({ _id: entryId, parent })
  if (!entry) throw new AppError('entry.not_found')
  return json(publicEntry(entry))
}

async function updateEntry(context: Context, request: UpdateEntryRequest, { caller }: Call): Promise<Updated> {
  const { id, entryId } = request
  const actor = actorOf(caller)
  await context.store.transaction(
    async tx => {
      const tenant = context.collections.of(caller.organizationId, tx)
      // First, so that the fields do not change until the commit.
      const locked = { $inc: { revision: 1 } }
      const collection = await tenant.collections.findOneAndUpdate({ _id: id }, locked, { timestamps: false })
      if (!collection) throw new AppError('collection.not_found')
      const before = await tenant.entries.findOne({ _id: entryId, parent: collection._id })
      if (!before) throw new AppError('entry.not_found')
      const values = mergedValues(collection.fields, before.values, request.values, pathOf)
      const changed = changedFields(before.values, valuesAt(collection.fields, values))
      if (changed.length === 0) return
      await reserveValues(tenant, collection, before._id, values, pathOf)
      const entry = (await tenant.entries.findOneAndUpdate({ _id: before._id }, { $set: { values } }))!
      const changes = changesBetween(changed, before.values, values)
      const data = { entry: publicEntry(entry), changed, changes, actor }
      await addEvents(tx, [event('collection.entry_updated', entry, data)])
    },
    { queue: queueOf(id) },
  )
  return updated()
}

async function deleteEntry(context: Context, { id, entryId }: EntryRequest, { caller }: Call): Promise<HttpBody> {
  const actor = actorOf(caller)
  const deleted = await context.store.transaction(
    async tx => {
      const tenant = context.collections.of(caller.organizationId, tx)
      const uncounted = { $inc: { entryCount: -1 } }
      const collection = await tenant.collections.findOneAndUpdate({ _id: id }, uncounted, { timestamps: false })
      if (!collection) throw new AppError('collection.not_found')
      const entry = await tenant.entries.findOneAndDelete({ _id: entryId, parent: collection._id })
      if (!entry) throw new AppError('entry.not_found')
      await tenant.uniqueValues.deleteMany({ entry: entry._id })
      await addEvents(tx, [event('collection.entry_deleted', entry, { entry: publicEntry(entry), actor })])
      return entry
    },
    { queue: queueOf(id) },
  )
  return json(publicEntry(deleted))
}

/** Returns the value of each field, undefined for none. */
function valuesAt(fields: readonly { slug: string }[], values: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(fields.map(({ slug }) => [slug, Object.hasOwn(values, slug) ? values[slug] : undefined]))
}
