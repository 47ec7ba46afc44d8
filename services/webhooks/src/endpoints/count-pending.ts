import type { Tenant } from '../collections.ts'
import { MAX_PENDING } from '../deliveries/schedule.ts'
import type { CountedWebhook, Webhook } from './webhook.model.ts'

/** Counts the deliveries that wait for each endpoint. */
export async function countPending({ deliveries }: Tenant, webhooks: readonly Webhook[]): Promise<CountedWebhook[]> {
  const match = { endpoint: { $in: webhooks.map(({ _id }) => _id) }, state: 'pending' }
  const counts = await deliveries.aggregate<{ _id: unknown; pending: number }>([
    { $match: match },
    { $group: { _id: '$endpoint', pending: { $sum: 1 } } },
  ])
  const byId = new Map(counts.map(({ _id, pending }) => [String(_id), pending]))
  return webhooks.map(webhook => ({
    ...webhook,
    pending: Math.min(byId.get(String(webhook._id)) ?? 0, MAX_PENDING),
  }))
}

/** Counts the deliveries that wait for one endpoint. */
export async function countedWebhook(tenant: Tenant, webhook: Webhook): Promise<CountedWebhook> {
  return (await countPending(tenant, [webhook]))[0]!
}
