import { AppError, parseDate } from '@rollcall/contract'
import type { RecoverWebhookRequest, RecoverWebhookResponse } from '@rollcall/protos/gen/webhooks-v1.ts'
import { actorOf, type Call } from '@rollcall/rpc'
import { addEvents, event } from '@rollcall/store'
import type { Tenant } from '../collections.ts'
import type { Context } from '../context.ts'
import { newDelivery, receives } from '../deliveries/schedule.ts'
import type { LoggedEvent } from '../events/logged-event.model.ts'
import { retentionDays } from '../events/retention.job.ts'
import { insertNew } from '../insert-new.ts'
import type { Webhook } from './webhook.model.ts'

const DAY_MS = 24 * 3_600_000
const MAX_DAYS = 14
const MAX_DELIVERIES = 10_000
const PAGE = 1000

type Period = { $gte: Date; $lte: Date }

/** Schedules what failed within a period again and, if asked, events that the endpoint missed. */
export async function recoverWebhook(
  context: Context,
  { id, since, until, missed = false }: RecoverWebhookRequest,
  { caller, signal }: Call,
): Promise<RecoverWebhookResponse> {
  const tenant = context.collections.of(caller.organizationId)
  const webhook: Webhook = await tenant.webhooks.get(id, 'webhook')
  const period = periodOf(await retentionDays(context, tenant), since, until)
  if (!webhook.active) throw new AppError('webhook.off')
  const failed = await rescheduleFailed(tenant, webhook, period)
  const late = missed ? await scheduleMissed(tenant, webhook, period, MAX_DELIVERIES - failed, signal) : 0
  const scheduled = failed + late
  const data = { webhookId: webhook._id, since: period.$gte, scheduled, actor: actorOf(caller) }
  await context.store.transaction(tx => addEvents(tx, [event('webhook.recovered', webhook, data)]))
  context.deliveryJob.wake()
  return { scheduled }
}

/** @throws {AppError} request.invalid_field if the period holds nothing or begins before what can be recovered */
function periodOf(retention: number, since: string, until: string | undefined): Period {
  const days = Math.min(MAX_DAYS, retention)
  const now = new Date()
  const from = parseDate(since)!
  const to = until === undefined ? now : parseDate(until)!
  if (from.getTime() < now.getTime() - days * DAY_MS) throw invalid('since', `reaches back ${days} days at most`)
  if (from > now) throw invalid('since', 'must not be in the future')
  if (to < from) throw invalid('until', 'must not be before since')
  return { $gte: from, $lte: to }
}

function invalid(path: string, reason: string): AppError {
  return new AppError('request.invalid_field', { path, reason })
}

async function rescheduleFailed({ deliveries }: Tenant, { _id }: Webhook, createdAt: Period): Promise<number> {
  // Pending without a time: what a failed replay of an older release left.
  const stuck = { state: { $in: ['failed', 'discarded', 'pending'] }, dueAt: null }
  const wanted = { endpoint: _id, ...stuck, test: false, createdAt }
  const found = await deliveries.find(wanted, { limit: MAX_DELIVERIES, projection: { _id: 1 } })
  const ids = found.map(each => each._id)
  let rescheduled = 0
  for (let from = 0; from < ids.length; from += PAGE) {
    const some = { _id: { $in: ids.slice(from, from + PAGE) }, ...stuck }
    const update = { $set: { state: 'pending', dueAt: new Date(), failures: 0 } }
    rescheduled += (await deliveries.updateMany(some, update)).modifiedCount
  }
  return rescheduled
}

/** Schedules events of a period that were not scheduled yet, the oldest first, until nobody waits for it any more. */
async function scheduleMissed(
  tenant: Tenant,
  webhook: Webhook,
  at: Period,
  limit: number,
  signal: AbortSignal,
): Promise<number> {
  const wanted = { at, ...(webhook.eventTypes.length > 0 && { type: { $in: webhook.eventTypes } }) }
  const projection = { type: 1, expiresAt: 1, at: 1, subject: 1 } as const
  const sort = { at: 1, _id: 1 } as const
  let scheduled = 0
  for (let last: Pick<LoggedEvent, '_id' | 'at'> | undefined; scheduled < limit && !signal.aborted; ) {
    const after = last && { $or: [{ at: { $gt: last.at } }, { at: last.at, _id: { $gt: last._id } }] }
    const events = await tenant.events.find({ ...wanted, ...after }, { sort, limit: PAGE, projection })
    const missed = await missedOf(events, tenant, webhook)
    scheduled += await insertNew(tenant.deliveries, newDelivery(tenant, webhook, missed.slice(0, limit - scheduled)))
    if (events.length < PAGE) break
    last = events.at(-1)
  }
  return scheduled
}

/** Returns the events that an endpoint receives and has no delivery of. */
async function missedOf(events: LoggedEvent[], { deliveries }: Tenant, webhook: Webhook): Promise<LoggedEvent[]> {
  const ofEvents = { endpoint: webhook._id, 'event.id': { $in: events.map(({ _id }) => String(_id)) } }
  const scheduled = await deliveries.find(ofEvents, { projection: { event: 1 } })
  const known = new Set(scheduled.map(({ event }) => event.id))
  return events.filter(event => receives(webhook, event) && !known.has(String(event._id)))
}
