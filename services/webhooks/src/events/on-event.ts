import type { Feed } from '@rollcall/bus'
import { type Events, isEventType, subjectKindOf } from '@rollcall/contract'
import type { Actor } from '@rollcall/rpc'
import type { Event } from '@rollcall/runtime'
import { isDuplicate } from '@rollcall/store'
import { Types } from 'mongoose'
import type { Tenant } from '../collections.ts'
import type { Context } from '../context.ts'
import { scheduleDeliveries } from '../deliveries/schedule.ts'
import type { LoggedEvent } from './logged-event.model.ts'
import { chooseRetention, expiryOf, retentionDays } from './retention.job.ts'

/**
 * Writes every event into the log and schedules its deliveries. Both writes are idempotent, so a redelivered event
 * changes nothing: its id is the id of the entry, and an endpoint has one delivery per event. Mail of the installation to
 * accounts (codes, links) is no event of the organization.
 */
export function onEvent(context: Context): Feed {
  return {
    name: 'webhooks.on-event',
    every: async event => (isAccountMail(event) ? undefined : logEvent(context, event)),
  }
}

async function logEvent(context: Context, event: Event): Promise<void> {
  const tenant = context.collections.of(event.organization)
  const entry = await entryOf(context, tenant, event)
  await tenant.events.insertOne(entry).catch(error => {
    if (!isDuplicate(error)) throw error
  })
  if (await scheduleDeliveries(tenant, entry)) context.deliveryJob.wake()
  if (event.type === 'settings.updated') await applySettings(context, tenant, event)
}

function isAccountMail({ type, data }: Event): boolean {
  return kindOf(type) === 'email' && (data.kind ?? 'account') === 'account'
}

async function applySettings(context: Context, tenant: Tenant, { data, time }: Event): Promise<void> {
  const { eventRetentionDays } = data.settings as Events['settings.updated']['settings']
  if (await chooseRetention(tenant, eventRetentionDays, new Date(time))) context.retentionJob.wake()
}

type Entry = Omit<LoggedEvent, 'organization'>

async function entryOf(context: Context, tenant: Tenant, event: Event): Promise<Entry> {
  const { id, type, subject, time, data, origin } = event
  const at = new Date(time)
  return {
    _id: entryId(id),
    type,
    at,
    actor: (data.actor as Actor | undefined) ?? origin?.actor ?? { kind: 'system', id: null, name: event.source },
    credential: origin?.credential ?? null,
    ip: origin?.ip ?? null,
    requestId: origin?.requestId ?? null,
    subject: { kind: kindOf(type), id: subject, name: nameIn(data, subject) ?? (await knownName(tenant, subject)) },
    data: JSON.stringify(data),
    expiresAt: expiryOf(at, await retentionDays(context, tenant)),
  }
}

/** Returns the kind of record that events of a type are about, also of types that a later version publishes. */
function kindOf(type: string): string {
  return isEventType(type) ? subjectKindOf(type) : type.split('.')[0]!
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
