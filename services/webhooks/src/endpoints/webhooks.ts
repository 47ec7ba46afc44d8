import { isDeepStrictEqual } from 'node:util'
import { AppError, describeEvents, type HttpBody, isEventType, json, updated } from '@rollcall/contract'
import type { Secrets } from '@rollcall/credentials'
import type { Updated } from '@rollcall/protos/gen/types.ts'
import type { CreateWebhookRequest, UpdateWebhookRequest } from '@rollcall/protos/gen/webhooks-v1.ts'
import { actorOf, type Call, type Handlers, requirePermission } from '@rollcall/rpc'
import { addEvents, changedFields, changesBetween, event, objectId, requireRoom, runList } from '@rollcall/store'
import { Types } from 'mongoose'
import type { Context } from '../context.ts'
import { countedWebhook, countPending } from './count-pending.ts'
import { deleteWebhook } from './delete-webhook.ts'
import { checkUrl } from './endpoint-url.ts'
import { openHeaders, readHeaders, sealHeaders } from './own-headers.ts'
import { recoverWebhook } from './recover-webhook.ts'
import { rotateSecret } from './rotate-secret.ts'
import { sendTest } from './send-test.ts'
import { newSecret, previewSecret } from './signing.ts'
import { eventWebhook, publicWebhook, secretPlace, type Webhook, webhookFields } from './webhook.model.ts'
import { webhookStats } from './webhook-stats.ts'

/** An endpoint without failures. */
const HEALTHY = { failures: 0, failingSince: null, isReported: false }

/** Handlers of webhook endpoints. */
export const webhooks = (context: Context): Handlers<'rollcall.webhooks.v1.Webhooks'> => ({
  async listWebhooks({ list }, { caller }) {
    const tenant = context.collections.of(caller.organizationId)
    return runList({
      scope: tenant.webhooks,
      query: list ?? {},
      fields: webhookFields,
      resolve: records => countPending(tenant, records),
      present: publicWebhook,
    })
  },

  createWebhook: (request, call) => createWebhook(context, request, call),

  listEventTypes: async () => json(describeEvents()),

  async getWebhook({ id }, { caller }) {
    const tenant = context.collections.of(caller.organizationId)
    return json(publicWebhook(await countedWebhook(tenant, await tenant.webhooks.get(id, 'webhook'))))
  },

  updateWebhook: (request, call) => updateWebhook(context, request, call),
  deleteWebhook: ({ id }, call) => deleteWebhook(context, id, call),
  rotateWebhookSecret: (request, call) => rotateSecret(context, request, call),
  testWebhook: (request, call) => sendTest(context, request, call),
  recoverWebhook: (request, call) => recoverWebhook(context, request, call),
  getWebhookStats: (request, call) => webhookStats(context, request, call),
})

async function createWebhook(context: Context, request: CreateWebhookRequest, { caller }: Call): Promise<HttpBody> {
  const { webhooks } = context.collections.of(caller.organizationId)
  const { name, description = '', eventTypes, headers = {}, active = true } = request
  requireTypes(eventTypes)
  const url = await checkUrl(context, request.url)
  const place = { organization: objectId(caller.organizationId), _id: new Types.ObjectId() }
  const secret = newSecret()
  const draft = {
    _id: place._id,
    name,
    url,
    description,
    eventTypes: [...new Set(eventTypes)],
    ...switched(active, { active: true }),
    ...sealHeaders(context.secrets, readHeaders(headers), place),
    secret: context.secrets.seal(secret, secretPlace.signing(place)),
    secretPreview: previewSecret(secret),
    createdBy: actorOf(caller),
  }
  const limit = context.config.WEBHOOK_ENDPOINTS
  const created = await context.store.transaction(async tx => {
    await requireRoom(webhooks, { limit, what: 'webhooks per organization' }, tx).catch(error => {
      throw isQuota(error) ? new AppError('webhook.too_many', { limit }) : error
    })
    const webhook = eventWebhook(await webhooks.insertOne(draft, { tx }))
    await addEvents(tx, [event('webhook.created', place, { webhook, actor: actorOf(caller) })])
    return webhook
  })
  return json({ ...created, secret })
}

async function updateWebhook(
  context: Context,
  { id, headers, active, ...changes }: UpdateWebhookRequest,
  { caller }: Call,
): Promise<Updated> {
  const { webhooks } = context.collections.of(caller.organizationId)
  const before: Webhook = await webhooks.get(id, 'webhook')
  if (changes.eventTypes) requireTypes(changes.eventTypes)
  if (widens(before, changes)) requirePermission(caller, 'events.read')
  if (changes.url !== undefined) changes.url = await checkUrl(context, changes.url)
  const forgetsFailures = await context.store.transaction(async tx => {
    const old: Webhook = await webhooks.get(id, 'webhook', { tx })
    const wanted = {
      ...changes,
      ...(changes.eventTypes && { eventTypes: [...new Set(changes.eventTypes)] }),
      ...(headers && changedHeaders(context.secrets, headers, old)),
      ...(changes.url !== undefined && changes.url !== old.url && HEALTHY),
      ...(active !== undefined && switched(active, old)),
    }
    const stored = changedFields(old, wanted)
    if (stored.length === 0) return false
    await webhooks.updateOne({ _id: old._id }, { $set: wanted }, { tx })
    const webhook = eventWebhook({ ...old, ...wanted, updatedAt: new Date() })
    const shown = stored.map(field => (field === 'headerValues' ? 'headers' : field))
    const changed = [...new Set(shown)].filter(field => Object.hasOwn(webhookFields, field))
    const data = { webhook, changed, changes: changesBetween(stored, eventWebhook(old), webhook) }
    await addEvents(tx, [event('webhook.updated', old, { ...data, actor: actorOf(caller) })])
    return 'failures' in wanted
  })
  if (forgetsFailures) context.circuits.note(id, 0)
  return updated()
}

/** Whether a change sends events somewhere else, or more of them. */
function widens(before: Webhook, { url, eventTypes }: Pick<UpdateWebhookRequest, 'url' | 'eventTypes'>): boolean {
  if (url !== undefined && url !== before.url) return true
  if (!eventTypes || before.eventTypes.length === 0) return false
  return eventTypes.length === 0 || eventTypes.some(type => !before.eventTypes.includes(type))
}

/** Returns the fields of an endpoint that a user switches on or off. Switching on forgets its failures. */
function switched(active: boolean, old: Pick<Webhook, 'active'>): Partial<Webhook> {
  if (!active) return old.active ? { active, disabledAt: new Date(), disabledReason: 'user' } : {}
  const enabled = { active, enabledAt: new Date(), disabledAt: null, disabledReason: null }
  return { ...HEALTHY, ...(!old.active && enabled) }
}

/** Returns the stored form of headers; nothing if neither names nor values change. */
function changedHeaders(secrets: Secrets, headers: Record<string, unknown>, old: Webhook): Partial<Webhook> {
  const known = openHeaders(secrets, old)
  const values = readHeaders(headers, known)
  return isDeepStrictEqual(values, known) ? {} : sealHeaders(secrets, values, old)
}

function requireTypes(types: readonly string[]): void {
  const index = types.findIndex(type => !isEventType(type))
  if (index >= 0) throw new AppError('webhook.unknown_type', { path: `eventTypes.${index}` })
}

function isQuota(error: unknown): boolean {
  return error instanceof AppError && error.code === 'quota.exceeded'
}
