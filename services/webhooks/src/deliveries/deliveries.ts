import { type HttpBody, json } from '@rollcall/contract'
import type { DeliveryDetailsJson, DeliveryJson } from '@rollcall/protos/gen/webhooks-v1.ts'
import { actorOf, type Call, type Caller, type Handlers, hasPermission } from '@rollcall/rpc'
import { addEvents, event, runList } from '@rollcall/store'
import type { Tenant } from '../collections.ts'
import type { Context } from '../context.ts'
import { bodyOf } from '../endpoints/body.ts'
import type { Webhook } from '../endpoints/webhook.model.ts'
import { sendRequest, withoutReply } from './attempt.ts'
import { recordOutcome } from './deliver.job.ts'
import { type Attempt, type Delivery, deliveryFields, publicDelivery } from './delivery.model.ts'

/** A replayed delivery may have any number of attempts. */
const SHOWN_ATTEMPTS = 100

/** Handlers of deliveries. */
export const deliveries = (context: Context): Handlers<'rollcall.webhooks.v1.Deliveries'> => ({
  async listDeliveries({ id, list }, { caller }) {
    const { webhooks, deliveries } = context.collections.of(caller.organizationId)
    const { _id: endpoint } = await webhooks.get(id, 'webhook')
    return runList({
      scope: deliveries,
      base: { endpoint },
      query: list ?? {},
      fields: deliveryFields,
      present: delivery => shownTo(caller, delivery),
    })
  },

  async getDelivery({ id }, { caller }) {
    const tenant = context.collections.of(caller.organizationId)
    return showDelivery(tenant, await tenant.deliveries.get(id, 'delivery'), caller)
  },

  replayDelivery: ({ id }, call) => replayDelivery(context, id, call),
})

/** Sends a delivery again at once. It stays due if it was. */
async function replayDelivery(context: Context, id: string, call: Call): Promise<HttpBody> {
  const tenant = context.collections.of(call.caller.organizationId)
  const delivery: Delivery = await tenant.deliveries.get(id, 'delivery')
  const webhook: Webhook = await tenant.webhooks.get(delivery.endpoint, 'webhook')
  const logged = await tenant.events.get(delivery.event.id, 'event')
  const outcome = await sendRequest(context, webhook, logged, bodyOf(logged), call)
  await recordOutcome(context, webhook, delivery, outcome, 'manual')
  const data = { webhookId: webhook._id, deliveryId: delivery._id, actor: actorOf(call.caller) }
  await context.store.transaction(tx => addEvents(tx, [event('webhook.replayed', webhook, data)]))
  return showDelivery(tenant, await tenant.deliveries.get(id, 'delivery'), call.caller)
}

/** Whether a delivery must be shown without its event. A test has only an example. */
function hidesEvent(caller: Caller, { test }: Delivery): boolean {
  return !test && !hasPermission(caller, 'events.read')
}

/** Returns a delivery as a caller may see it: what the endpoint said in a refusal can repeat the event. */
function shownTo(caller: Caller, delivery: Delivery): DeliveryJson {
  const { lastError } = delivery
  const isBlanked = lastError && hidesEvent(caller, delivery)
  return publicDelivery(isBlanked ? { ...delivery, lastError: withoutReply(lastError) } : delivery)
}

async function showDelivery({ attempts, events }: Tenant, delivery: Delivery, caller: Caller): Promise<HttpBody> {
  const isBlanked = hidesEvent(caller, delivery)
  const sort = { at: -1, _id: -1 } as const
  const made: Attempt[] = await attempts.find({ delivery: delivery._id }, { sort, limit: SHOWN_ATTEMPTS })
  const logged = delivery.test || isBlanked ? null : await events.findOne({ _id: delivery.event.id })
  const [latest] = made
  const shown: DeliveryDetailsJson = {
    ...shownTo(caller, delivery),
    request: {
      url: latest?.url ?? '',
      headers: JSON.parse(latest?.requestHeaders ?? '{}'),
      body: latest?.body ?? (logged ? bodyOf(logged) : ''),
    },
    attempts: made.map(({ at, trigger, status, durationMs, error, responseHeaders, responseBody }) => ({
      at: at.toISOString(),
      trigger,
      status,
      durationMs,
      error: isBlanked ? withoutReply(error) : error,
      responseHeaders: JSON.parse(responseHeaders || '{}'), // older releases erased them to ''
      responseBody: isBlanked ? '' : responseBody,
    })),
  }
  return json(shown)
}
