import type { Feed } from '@rollcall/bus'
import { isEventType, subjectKindOf } from '@rollcall/contract'
import type { Actor } from '@rollcall/rpc'
import type { Event } from '@rollcall/runtime'
import { isDuplicate } from '@rollcall/store'
import { Types } from 'mongoose'
import type { Tenant } from '../collections.ts'
import type { Context } from '../context.ts'
import { scheduleDeliveries } from '../deliveries/schedule.ts'
import type { LoggedEvent } from './logged-event.model.ts'

const DAY_MS = 24 * 3_600_000

/**
 * Writes every event into the log and schedules its deliveries. Both writes are idempotent, so a redelivered event
 * changes nothing: its id is the id of the entry, and an endpoint has one delivery per event.
 */
export function onEvent(context: Context): Feed {
  return { name: 'webhooks.on-event', every: event => logEvent(context, event) }
}

async function logEvent(context: Context, event: Event): Promise<void> {
  const tenant = context.collections.of(event.organization)
  const entry = await entryOf(context, tenant, event)
  await tenant.events.insertOne(entry).catch(error => {
    if (!isDuplicate(error)) throw error
  })
  if (await scheduleDeliveries(tenant, entry)) context.deliveryJob.wake()
}

type Entry = Omit<LoggedEvent, 'organization'>

async function entryOf({ config }: Context, tenant: Tenant, event: Event): Promise<Entry> {
  const { id, type, subject, time, data, origin } = event
  const at = new Date(time)
  const kind = isEventType(type) ? subjectKindOf(type) : type.split('.')[0]!
  return {
    _id: entryId(id),
    type,
    at,
    actor: (data.actor as Actor | undefined) ?? origin?.actor ?? { kind: 'system', id: null, name: event.source },
    credential: origin?.credential ?? null,
    ip: origin?.ip ?? null,
    requestId: origin?.requestId ?? null,
    subject: { kind, id: subject, name: nameIn(data, subject) ?? (await knownName(tenant, subject)) },
    data: JSON.stringify(data),
    expiresAt: new Date(at.getTime() + config.EVENT_RETENTION_DAYS * DAY_MS),
  }
}

/** Returns the id of an event's entry: the event's own id, or one made from the UUID that older versions used. */
function entryId(id: string): Types.ObjectId {
  return new Types.ObjectId(Types.ObjectId.isValid(id) ? id : id.replaceAll('-', '').slice(0, 24))
}

/** Returns the name of the subject, if the data holds its record. */
function nameIn(data: Event['data'], subject: string): string | null {
  const records = Object.values(data).filter(value => typeof value === 'object' && value !== null) as Named[]
  const record = records.find(({ _id }) => _id === subject)
  return record ? record.name || record.email || record.domain || record.slug || null : null
}

type Named = { _id?: string; name?: string; email?: string; domain?: string; slug?: string }

/** Returns the name that the subject had in its last event. */
async function knownName({ events }: Tenant, subject: string): Promise<string | null> {
  const named = { 'subject.id': subject, 'subject.name': { $ne: null } }
  const [last] = await events.find(named, { sort: { at: -1, _id: -1 }, limit: 1, projection: { subject: 1 } })
  return last?.subject.name ?? null
}
