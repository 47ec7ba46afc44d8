import { Types } from 'mongoose'
import type { Tenant } from '../collections.ts'
import type { Webhook } from '../endpoints/webhook.model.ts'
import type { LoggedEvent } from '../events/logged-event.model.ts'
import { insertNew } from '../insert-new.ts'
import type { Delivery } from './delivery.model.ts'

const KEPT_MS = 30 * 24 * 3_600_000
/** More waiting deliveries are discarded: an endpoint that is down must not slow the search for due ones. */
export const MAX_PENDING = 10_000

/** How much older than its endpoint an event may be: clocks differ, and events take a while. */
const LATE_MS = 3_600_000

type Scheduled = Pick<LoggedEvent, '_id' | 'type' | 'at' | 'expiresAt'> & Partial<Pick<LoggedEvent, 'subject'>>

/**
 * Schedules the deliveries of events; idempotent. Returns whether there are any. Dead letters can arrive days late: an
 * endpoint gets none from before it was created or switched on, and no expired ones.
 */
export async function scheduleDeliveries(tenant: Tenant, events: readonly Scheduled[]): Promise<boolean> {
  const projection = { eventTypes: 1, failures: 1, createdAt: 1, enabledAt: 1 } as const
  const active = await tenant.webhooks.find({ active: true }, { projection })
  const now = new Date()
  const drafts = active.map(async endpoint => {
    const received = events.filter(
      event => event.expiresAt > now && wasOn(endpoint, event) && receives(endpoint, event),
    )
    return received.length > 0 ? newDelivery(tenant, endpoint, received, await isFull(tenant, endpoint)) : []
  })
  const deliveries = (await Promise.all(drafts)).flat()
  await insertNew(tenant.deliveries, deliveries)
  return deliveries.length > 0
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
export function receives({ _id, eventTypes }: Webhook, { type, subject }: Scheduled): boolean {
  if (type === 'webhook.created' && subject?.id === String(_id)) return false
  return eventTypes.length === 0 || eventTypes.includes(type)
}

function wasOn({ createdAt, enabledAt }: Webhook, { at }: Scheduled): boolean {
  return at.getTime() > (enabledAt ?? createdAt).getTime() - LATE_MS
}

/** Whether too many deliveries wait for an endpoint. Only a failing one is counted. */
async function isFull({ deliveries }: Tenant, { _id, failures }: Webhook): Promise<boolean> {
  return failures > 0 && (await deliveries.count({ endpoint: _id, state: 'pending' })) >= MAX_PENDING
}
