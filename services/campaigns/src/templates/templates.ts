import { AppError, type HttpBody, json, updated } from '@rollcall/contract'
import type { CreateTemplateRequest, UpdateTemplateRequest } from '@rollcall/protos/gen/campaigns-v1.ts'
import type { Updated } from '@rollcall/protos/gen/types.ts'
import { actorOf, type Call, type Handlers } from '@rollcall/rpc'
import { addEvents, changedFields, changesBetween, event, requireRoom, runList } from '@rollcall/store'
import { UNFINISHED } from '../campaigns/campaign-states.ts'
import type { Context } from '../context.ts'
import { requireParsable, withoutContent } from './content.ts'
import { previewTemplate } from './preview-template.ts'
import { nameKeyOf, publicTemplate, type Template, templateFields } from './template.model.ts'

/** Handlers of templates. */
export function templates(context: Context): Handlers<'rollcall.campaigns.v1.Templates'> {
  const of = ({ caller }: Call) => context.collections.of(caller.organizationId).templates
  const campaigns = ({ caller }: Call) => context.collections.of(caller.organizationId).campaigns
  return {
    listTemplates: ({ list }, call) =>
      runList({ scope: of(call), query: list ?? {}, fields: templateFields, present: publicTemplate }),

    createTemplate: (request, call) => createTemplate(context, request, call),
    getTemplate: async ({ id }, call) => json(publicTemplate(await of(call).get(id, 'template'))),
    updateTemplate: (request, call) => updateTemplate(context, request, call),

    deleteTemplate: async ({ id }, call) =>
      context.store.transaction(async tx => {
        const template = await of(call).get(id, 'template', { tx })
        const inUse = { template: template._id, status: { $in: UNFINISHED } }
        if (await campaigns(call).findOne(inUse, { tx })) throw new AppError('template.in_use')
        await of(call).deleteOne({ _id: template._id }, { tx })
        const actor = actorOf(call.caller)
        await addEvents(tx, [event('template.deleted', template, { template: named(template), actor })])
        return json(publicTemplate(template))
      }),

    previewTemplate: (request, call) => previewTemplate(context, request, call),
  }
}

async function createTemplate(
  context: Context,
  { name, subject, html, text, description }: CreateTemplateRequest,
  { caller }: Call,
): Promise<HttpBody> {
  const { templates } = context.collections.of(caller.organizationId)
  const content = { subject: subject || null, html, text: text || null }
  requireParsable(content)
  const draft = {
    name,
    nameKey: nameKeyOf(name),
    ...content,
    description: description ?? '',
    createdBy: actorOf(caller),
  }
  const quota = { limit: context.config.TEMPLATES_PER_ORGANIZATION, what: 'templates per organization' }
  const created = await context.store.transaction(
    async tx => {
      await requireRoom(templates, quota, tx)
      const template = await templates.insertOne(draft, { tx })
      const data = { template: named(template), actor: draft.createdBy }
      await addEvents(tx, [event('template.created', template, data)])
      return template
    },
    { queue: `templates of ${caller.organizationId}` },
  )
  return json(publicTemplate(created))
}

async function updateTemplate(
  context: Context,
  { id, subject, text, ...rest }: UpdateTemplateRequest,
  { caller }: Call,
): Promise<Updated> {
  const { templates } = context.collections.of(caller.organizationId)
  const wanted = {
    ...rest,
    ...(subject !== undefined && { subject: subject || null }),
    ...(text !== undefined && { text: text || null }),
  }
  requireParsable(wanted)
  await context.store.transaction(async tx => {
    const before = await templates.get(id, 'template', { tx })
    const changed = changedFields(before, wanted)
    if (changed.length === 0) return
    const key = rest.name !== undefined && { nameKey: nameKeyOf(rest.name) }
    const after = (await templates.rewriteOne({ _id: before._id }, { ...wanted, ...key }, { tx }))!
    const changes = changesBetween(
      changed,
      withoutContent(publicTemplate(before)),
      withoutContent(publicTemplate(after)),
    )
    const data = { template: named(after), changed, changes, actor: actorOf(caller) }
    await addEvents(tx, [event('template.updated', after, data)])
  })
  return updated()
}

/** Returns a template as events name it. */
function named({ _id, name, description }: Template) {
  return { _id, id: _id, name, description }
}
