import { type DueJob, defineJob, type Outcome as Left } from '@rollcall/jobs'
import { addEvents, event, type Unscoped } from '@rollcall/store'
import type { Tenant } from '../collections.ts'
import type { Context } from '../context.ts'
import { bodyOf } from '../endpoints/body.ts'
import { eventWebhook, type Webhook } from '../endpoints/webhook.model.ts'
import { attemptOf, type Outcome, sendRequest } from './attempt.ts'
import type { Attempt, Delivery } from './delivery.model.ts'
import { blankErasedReply, withoutErasedReply } from './erased-reply.ts'
import { pauseMs } from './retry-schedule.ts'

const HOUR_MS = 3_600_000
const REPORT_MS = 24 * HOUR_MS
const DISABLE_MS = 120 * HOUR_MS
/** An endpoint with few events is not switched off by a handful of failures. */
const DISABLE_FAILURES = 10
/** How exact `lastSuccessAt` is; a busy endpoint would otherwise write its record with each delivery. */
const SUCCESS_EVERY_MS = 1000
const DELIVERED = { dueAt: null, state: 'delivered' }
const SERVICE = { kind: 'system', id: null, name: 'webhooks' } as const

/**
 * Sends the deliveries that are due, each a record that a replica claims by moving its `dueAt`:
 *
 * 1. Discard it if its endpoint is off or its event has expired.
 * 2. Send one signed request.
 * 3. Record the attempt, then the state of the delivery: delivered, failed after ten attempts, or due again later. Record
 * at the endpoint since when its URL has failed, and switch it off after five days, or at once if it answers 410.
 *
 * After a crash between the second and the third step, the request is sent again with the same id.
 */
export function deliveryJob(model: Unscoped<Delivery>, context: () => Context): DueJob {
  return defineJob<Delivery>({
    name: 'deliveries',
    due: { model },
    concurrency: 100,
    concurrencyPerOrganization: 20,
    concurrencyPer: {
      field: 'endpoint',
      limitOf: endpoint => context().circuits.limitOf(endpoint),
      held: () => context().circuits.failing(),
    },
    run: delivery => deliver(context(), delivery),
  })
}

/** Sends a claimed delivery and records what came of it. Discards it if its webhook is off or its event has expired. */
export async function deliver(context: Context, delivery: Delivery): Promise<Left> {
  const tenant = context.collections.of(delivery.organization)
  const [webhook, logged] = await Promise.all([
    tenant.webhooks.findOne({ _id: delivery.endpoint }),
    tenant.events.findOne({ _id: delivery.event.id }),
  ])
  if (!webhook) return discard(tenant, delivery, 'deleted')
  if (!webhook.active) return discard(tenant, delivery, 'the webhook is off')
  if (!logged) return discard(tenant, delivery, 'the event has expired')
  const outcome = await sendRequest(context, webhook, logged, bodyOf(logged))
  return recordOutcome(context, webhook, delivery, outcome, 'auto')
}

async function discard({ deliveries }: Tenant, { _id, attempts }: Delivery, lastError: string): Promise<'done'> {
  await deliveries.updateOne({ _id, attempts }, { $set: { state: 'discarded', dueAt: null, lastError } })
  return 'done'
}

/** Records an attempt and its consequences. Returns what is left to do. */
export async function recordOutcome(
  context: Context,
  webhook: Webhook,
  delivery: Delivery,
  answered: Outcome,
  trigger: Attempt['trigger'],
): Promise<Left> {
  const tenant = context.collections.of(delivery.organization)
  const isDelivered = answered.error === null
  context.attempted.inc({ outcome: isDelivered ? 'delivered' : 'failed' })
  const outcome = await withoutErasedReply(tenant, delivery, answered)
  const { _id } = await tenant.attempts.insertOne(attemptOf(delivery, outcome, trigger))
  const left = await updateDelivery(context, delivery, outcome, trigger)
  await blankErasedReply(tenant, delivery, _id, outcome)
  if (isDelivered) await noteSuccess(context, webhook, outcome.at)
  else if (!outcome.isCutShort) await noteFailure(context, webhook, outcome)
  return left
}

/** Stores in a delivery what an attempt changes. Returns what is left to do. */
async function updateDelivery(
  { collections, config }: Context,
  delivery: Delivery,
  outcome: Outcome,
  trigger: Attempt['trigger'],
): Promise<Left> {
  const { deliveries } = collections.of(delivery.organization)
  const attempt = { lastAttemptAt: outcome.at, lastStatus: outcome.status, lastError: outcome.error }
  const { _id, attempts: fence } = delivery
  if (outcome.error === null) {
    // A success counts even if the job has claimed the delivery in the meantime. The new number ends that claim.
    await deliveries.updateOne({ _id }, { $set: { ...DELIVERED, ...attempt }, $inc: { attemptCount: 1, attempts: 1 } })
    return 'done'
  }
  const waitMs = outcome.isGone ? undefined : pauseMs(delivery.failures + 1, outcome, config.WEBHOOK_RETRY_MS)
  const changes = changesAfterFailure(delivery, outcome, trigger, waitMs === undefined)
  const update = { $set: { ...changes, ...attempt }, $inc: { attemptCount: 1 } }
  const { matchedCount } = await deliveries.updateOne({ _id, attempts: fence }, update)
  if (matchedCount === 0) await deliveries.updateOne({ _id }, { $inc: { attemptCount: 1 } })
  return waitMs ?? 'done'
}

/**
 * Returns what a failed attempt changes in its delivery. A replay changes none that has ended, and none if its call ended
 * it. Before the last attempt, the state stays: the delivery is pending, or was discarded meanwhile.
 */
function changesAfterFailure(
  { state, failures }: Delivery,
  { isCutShort }: Outcome,
  trigger: Attempt['trigger'],
  isLast: boolean,
) {
  if (isCutShort || (trigger === 'manual' && state !== 'pending')) return {}
  return { failures: failures + 1, ...(isLast && { dueAt: null, state: 'failed' }) }
}

async function noteSuccess({ collections, circuits }: Context, webhook: Webhook, at: Date): Promise<void> {
  circuits.note(String(webhook._id), 0)
  const { failures, lastSuccessAt } = webhook
  if (failures === 0 && lastSuccessAt !== null && at.getTime() - lastSuccessAt.getTime() < SUCCESS_EVERY_MS) return
  const healthy = { lastSuccessAt: at, failures: 0, failingSince: null, isReported: false }
  const { webhooks } = collections.of(webhook.organization)
  const { _id, url } = webhook
  await webhooks.updateOne({ _id, url }, { $set: healthy }, { timestamps: false })
}

async function noteFailure(context: Context, webhook: Webhook, { at, isGone }: Outcome): Promise<void> {
  const { webhooks } = context.collections.of(webhook.organization)
  const { _id, url } = webhook // an attempt at a former URL says nothing of the present one
  const options = { timestamps: false } as const
  await webhooks.updateOne({ _id, url, failingSince: null }, { $set: { failingSince: at } }, options)
  const change = { $set: { lastFailureAt: at }, $inc: { failures: 1 } }
  const after = await webhooks.findOneAndUpdate({ _id, url }, change, options)
  if (!after) return
  context.circuits.note(String(_id), after.failures)
  const failingMs = at.getTime() - (after.failingSince ?? at).getTime()
  if (isGone) await disable(context, after, 'gone')
  else if (failingMs >= DISABLE_MS && after.failures >= DISABLE_FAILURES) await disable(context, after, 'failing')
  else if (failingMs >= REPORT_MS && !after.isReported) await reportFailing(context, after)
}

/** Switches an endpoint off and discards what waits for it. */
async function disable(context: Context, webhook: Webhook, reason: 'gone' | 'failing'): Promise<void> {
  const { _id, organization, url } = webhook
  const { webhooks, deliveries } = context.collections.of(organization)
  const off = { active: false, disabledAt: new Date(), disabledReason: reason }
  const isDisabled = await context.store.transaction(async tx => {
    const disabled = await webhooks.findOneAndUpdate({ _id, url, active: true }, { $set: off }, { tx })
    if (!disabled) return false
    const webhook = eventWebhook(disabled)
    await addEvents(tx, [event('webhook.disabled', disabled, { webhook, actor: SERVICE })])
    return true
  })
  if (!isDisabled) return
  const discarded = { state: 'discarded', dueAt: null, lastError: 'the webhook is off' }
  await deliveries.updateMany({ endpoint: _id, state: 'pending' }, { $set: discarded })
}

async function reportFailing({ collections, store }: Context, { _id, organization }: Webhook): Promise<void> {
  const { webhooks } = collections.of(organization)
  await store.transaction(async tx => {
    const update = { $set: { isReported: true } }
    const failing = await webhooks.findOneAndUpdate({ _id, isReported: false }, update, { tx, timestamps: false })
    if (!failing) return
    const webhook = eventWebhook(failing)
    await addEvents(tx, [event('webhook.failing', failing, { webhook, actor: SERVICE })])
  })
}
