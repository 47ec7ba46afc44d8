import { AppError, describeEvents } from '@rollcall/contract'
import type { Updated } from '@rollcall/protos/gen/types.ts'
import type { TestWebhookRequest } from '@rollcall/protos/gen/webhooks-v1.ts'
import { type Actor, actorOf, type Call } from '@rollcall/rpc'
import { addEvents, event as newEvent, objectId } from '@rollcall/store'
import { Types } from 'mongoose'
import type { Context } from '../context.ts'
import { recordTest, sendRequest } from '../deliveries/attempt.ts'
import { bodyOf } from './body.ts'
import type { Webhook } from './webhook.model.ts'

/** Sends an example at once and says what the endpoint answered. */
export async function sendTest(context: Context, { id, type }: TestWebhookRequest, call: Call): Promise<Updated> {
  const { webhooks } = context.collections.of(call.caller.organizationId)
  const webhook: Webhook = await webhooks.get(id, 'webhook')
  const wanted = type ?? webhook.eventTypes[0] ?? 'contact.created'
  const described = describeEvents().find(each => each.type === wanted)
  if (!described) throw new AppError('webhook.unknown_type', { path: 'type' })
  const example = described.example.data as { actor: Actor }
  const event = {
    _id: new Types.ObjectId(),
    organization: objectId(call.caller.organizationId),
    type: wanted,
    at: new Date(),
    actor: example.actor,
    subject: { kind: '', id: '', name: null },
    data: JSON.stringify(example),
  }
  const body = bodyOf(event, true)
  const outcome = await sendRequest(context, webhook, event, body, call)
  await recordTest(context, webhook, event, body, outcome)
  const { status, error, responseBody } = outcome
  const data = { webhookId: webhook._id, type: wanted, delivered: error === null, actor: actorOf(call.caller) }
  await context.store.transaction(tx => addEvents(tx, [newEvent('webhook.tested', webhook, data)]))
  if (error !== null) throw new AppError('webhook.test_failed', { reply: error })
  return { success: true, message: `${status} ${responseBody.split('\n')[0]!.slice(0, 200)}`.trim() }
}
