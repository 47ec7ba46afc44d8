import { type HttpBody, json } from '@rollcall/contract'
import type { GetWebhookStatsRequest, WebhookStatsJson } from '@rollcall/protos/gen/webhooks-v1.ts'
import type { Call } from '@rollcall/rpc'
import type { Context } from '../context.ts'

const HOUR_MS = 3_600_000
const DEFAULT_HOURS = 24

type Count = { _id: { at: Date; state: string }; count: number }

/** Counts the deliveries of an endpoint by the hour of their last attempt. Tests do not count. */
export async function webhookStats(
  context: Context,
  { id, hours = DEFAULT_HOURS }: GetWebhookStatsRequest,
  { caller }: Call,
): Promise<HttpBody> {
  const { webhooks, deliveries } = context.collections.of(caller.organizationId)
  const { _id: endpoint } = await webhooks.get(id, 'webhook')
  const thisHour = Math.floor(Date.now() / HOUR_MS) * HOUR_MS
  const starts = Array.from({ length: hours }, (_, index) => thisHour - (hours - 1 - index) * HOUR_MS)
  const counts = await deliveries.aggregate<Count>([
    { $match: { endpoint, test: false, lastAttemptAt: { $gte: new Date(starts[0]!) } } },
    {
      $group: {
        _id: { at: { $dateTrunc: { date: '$lastAttemptAt', unit: 'hour' } }, state: '$state' },
        count: { $sum: 1 },
      },
    },
  ])
  const countOf = (start: number, isWanted: (state: string) => boolean) =>
    counts
      .filter(({ _id }) => _id.at.getTime() === start && isWanted(_id.state))
      .reduce((sum, { count }) => sum + count, 0)
  const stats: WebhookStatsJson[] = starts.map(start => ({
    at: new Date(start).toISOString(),
    delivered: countOf(start, state => state === 'delivered'),
    failed: countOf(start, state => state !== 'delivered'),
  }))
  return json(stats)
}
