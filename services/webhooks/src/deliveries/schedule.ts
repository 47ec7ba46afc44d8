import { insertOf, isDuplicate } from '@rollcall/store'
import { type mongo, Types } from 'mongoose'
import type { Tenant } from '../collections.ts'
import type { Webhook } from '../endpoints/webhook.model.ts'
import type { LoggedEvent } from '../events/logged-event.model.ts'
import type { Delivery } from './delivery.model.ts'

const KEPT_MS = 30 * 24 * 3_600_000
/** More waiting deliveries are discarded: an endpoint that is down must not slow the search for due ones. */
export const MAX_PENDING = 10_000
const DUPLICATE_KEY = 11000

type Scheduled = Pick<LoggedEvent, '_id' | 'type' | 'expiresAt'> & Partial<Pick<LoggedEvent, 'subject'>>

/** Schedules the deliveries of an event; idempotent. Returns whether there are any. */
export async function scheduleDeliveries(tenant: Tenant, event: Scheduled): Promise<boolean> {
  const active = await tenant.webhooks.find({ active: true }, { projection: { eventTypes: 1, failures: 1 } })
  const endpoints = active.filter(endpoint => receives(endpoint, event))
  if (endpoints.length === 0) return false
  const drafts = endpoints.map(async endpoint => newDelivery(tenant, endpoint, [event], await isFull(tenant, endpoint)))
  await insertDeliveries(tenant, (await Promise.all(drafts)).flat())
  return true
}

/** Inserts deliveries, except those that exist. Returns how many are new. */
export async function insertDeliveries(tenant: Tenant, deliveries: readonly Delivery[]): Promise<number> {
  try {
    return (await tenant.deliveries.bulkWrite(deliveries.map(insertOf)))?.insertedCount ?? 0
  } catch (error) {
    const { writeErrors, result } = (error as Error).cause as mongo.MongoBulkWriteError
    if (!isDuplicate(error) || [writeErrors].flat().some(({ code }) => code !== DUPLICATE_KEY)) throw error
    return result.insertedCount
  }
}

/** Returns due deliveries of events to an endpoint, or discarded ones. */
export function newDelivery(
  { webhooks }: Tenant,
  { _id: endpoint }: Pick<Webhook, '_id'>,
  events: readonly Scheduled[],
  isDiscarded = false,
): Delivery[] {
  const at = new Date()
  return events.map(({ _id, type, expiresAt }) => ({
    _id: new Types.ObjectId(),
    organization: webhooks.organization,
    endpoint,
    event: { id: String(_id), type },
    state: isDiscarded ? 'discarded' : 'pending',
    dueAt: isDiscarded ? null : at,
    attempts: 0,
    attemptCount: 0,
    failures: 0,
    lastAttemptAt: null,
    lastStatus: null,
    lastError: isDiscarded ? `more than ${MAX_PENDING} deliveries were waiting` : null,
    test: false,
    expiresAt: new Date(Math.min(expiresAt.getTime(), at.getTime() + KEPT_MS)),
    createdAt: at,
    updatedAt: at,
  }))
}

/** Whether an endpoint gets an event. It does not hear of its own creation. */
function receives({ _id, eventTypes }: Webhook, { type, subject }: Scheduled): boolean {
  if (type === 'webhook.created' && subject?.id === String(_id)) return false
  return eventTypes.length === 0 || eventTypes.includes(type)
}

/** Whether too many deliveries wait for an endpoint. Only a failing one is counted. */
async function isFull({ deliveries }: Tenant, { _id, failures }: Webhook): Promise<boolean> {
  return failures > 0 && (await deliveries.count({ endpoint: _id, state: 'pending' })) >= MAX_PENDING
}
