import { AppError, type HttpBody, json } from '@rollcall/contract'
import { actorOf, type Call } from '@rollcall/rpc'
import { addEvents, event } from '@rollcall/store'
import type { Context } from '../context.ts'
import { eventWebhook } from './webhook.model.ts'

/**
 * Deletes an endpoint and returns it as it was. Its deliveries are deleted afterwards: without the endpoint they can
 * neither be sent nor shown, and they expire.
 */
export async function deleteWebhook(context: Context, id: string, { caller }: Call): Promise<HttpBody> {
  const { webhooks, deliveries, attempts } = context.collections.of(caller.organizationId)
  const shown = await context.store.transaction(async tx => {
    const deleted = await webhooks.findOneAndDelete({ _id: id }, { tx })
    if (!deleted) throw new AppError('webhook.not_found')
    const webhook = eventWebhook(deleted)
    await addEvents(tx, [event('webhook.deleted', deleted, { webhook, actor: actorOf(caller) })])
    return webhook
  })
  await deliveries.deleteMany({ endpoint: id })
  await attempts.deleteMany({ endpoint: id })
  return json(shown)
}
