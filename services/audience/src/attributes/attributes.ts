import { AppError, type HttpBody, json, updated } from '@rollcall/contract'
import type { CreateAttributeRequest, UpdateAttributeRequest } from '@rollcall/protos/gen/audience-v1.ts'
import type { Updated } from '@rollcall/protos/gen/types.ts'
import { actorOf, type Call, type Handlers } from '@rollcall/rpc'
import { addEvents, changedFields, changesBetween, event, isDuplicate, requireRoom, runList } from '@rollcall/store'
import type { Context } from '../context.ts'
import { attributeFields, presentAttribute } from './attribute.model.ts'
import { checkSlug } from './attribute-slug.ts'
import { alive, readDefinitions } from './definitions.ts'

/** The use cases of attribute definitions. */
export function attributes(context: Context): Handlers<'rollcall.audience.v1.Attributes'> {
  return {
    listAttributes: ({ list }, { caller }) =>
      runList({
        scope: context.collections.of(caller.organizationId).attributes,
        query: list ?? {},
        fields: attributeFields,
        base: alive,
        present: presentAttribute,
      }),

    createAttribute: (request, call) => createAttribute(context, request, call),
    updateAttribute: (request, call) => updateAttribute(context, request, call),
    deleteAttribute: ({ id }, call) => deleteAttribute(context, id, call),

    describeAttributes: async (_request, { caller }) => {
      const definitions = await readDefinitions(context.collections.of(caller.organizationId).attributes)
      return {
        definitions: [...definitions.values()].map(({ slug, type, options, required }) => ({
          slug,
          type,
          options: [...options],
          required,
        })),
      }
    },
  }
}

async function createAttribute(context: Context, request: CreateAttributeRequest, { caller }: Call): Promise<HttpBody> {
  const { attributes } = context.collections.of(caller.organizationId)
  const { name, slug, type } = request
  checkSlug(slug)
  const options = [...new Set(request.options)]
  if (type === 'enum' && options.length === 0) throw new AppError('request.missing_field', { path: 'options' })
  if (type !== 'enum') refuseOptions(options)
  const draft = { name, slug, type, options, required: request.required ?? false, createdBy: actorOf(caller) }
  const quota = { limit: context.limits.attributes, what: 'attributes per organization', of: alive }
  const create = () =>
    context.store.transaction(
      async tx => {
        await requireRoom(attributes, quota, tx)
        const attribute = await attributes.insertOne(draft, { tx })
        const data = { attribute: presentAttribute(attribute), actor: draft.createdBy }
        await addEvents(tx, [event('attribute.created', attribute, data)])
        return attribute
      },
      { queue: `attributes of ${caller.organizationId}` },
    )
  const created = await create().catch(async error => {
    // A deleted attribute can be created again at once, with another type.
    if (!isDuplicate(error) || !(await context.dropValuesJob.dropped(caller.organizationId, slug))) throw error
    return create()
  })
  return json(presentAttribute(created))
}

async function updateAttribute(context: Context, request: UpdateAttributeRequest, { caller }: Call): Promise<Updated> {
  const { attributes } = context.collections.of(caller.organizationId)
  const filter = { _id: request.id, ...alive }
  const current = await attributes.findOne(filter)
  if (!current) throw new AppError('attribute.not_found')
  if (current.type !== 'enum') refuseOptions(request.options)
  const changes = {
    ...(request.name !== undefined && { name: request.name }),
    ...(request.required !== undefined && { required: request.required }),
    ...(request.options.length > 0 && { options: [...new Set(request.options)] }),
  }
  await context.store.transaction(async tx => {
    const before = await attributes.findOneAndUpdate(filter, { $set: changes }, { tx, returnDocument: 'before' })
    if (!before) throw new AppError('attribute.not_found')
    const changed = changedFields(before, changes)
    if (changed.length === 0) return
    const attribute = presentAttribute({ ...before, ...changes, updatedAt: new Date() })
    const values = changesBetween(changed, presentAttribute(before), attribute)
    const data = { attribute, changed, changes: values, actor: actorOf(caller) }
    await addEvents(tx, [event('attribute.updated', before, data)])
  })
  return updated()
}

/** Hides the definition at once and drops its values in the background; another process resumes that after a crash. */
async function deleteAttribute(context: Context, id: string, { caller }: Call): Promise<HttpBody> {
  const { attributes } = context.collections.of(caller.organizationId)
  const deleted = await context.store.transaction(async tx => {
    const hidden = { $set: { deleting: true } }
    const before = await attributes.findOneAndUpdate({ _id: id, ...alive }, hidden, { tx, returnDocument: 'before' })
    if (!before) throw new AppError('attribute.not_found')
    const data = { attribute: presentAttribute(before), actor: actorOf(caller) }
    await addEvents(tx, [event('attribute.deleted', before, data)])
    return before
  })
  await context.dropValuesJob.drop(deleted)
  return json(presentAttribute(deleted))
}

function refuseOptions(options: readonly string[]): void {
  if (options.length > 0) throw new AppError('request.extra_field', { path: 'options' })
}
