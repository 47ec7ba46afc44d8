import type { Feed } from '@rollcall/bus'
import { type Events, isEventType, subjectKindOf } from '@rollcall/contract'
import type { Actor } from '@rollcall/rpc'
import type { Event } from '@rollcall/runtime'
import { ERASED } from '@rollcall/service'
import { Types } from 'mongoose'
import type { Tenant } from '../collections.ts'
import type { Context } from '../context.ts'
import { scheduleDeliveries } from '../deliveries/schedule.ts'
import { insertNew } from '../insert-new.ts'
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
    async every(events) {
      const logged = events.filter(event => !isAccountMail(event))
      for (const [organization, some] of Map.groupBy(logged, event => event.organization))
        await logEvents(context, context.collections.of(organization), some)
    },
  }
}

async function logEvents(context: Context, tenant: Tenant, events: readonly Event[]): Promise<void> {
  const days = await retentionDays(context, tenant)
  const entries = events.map(event => entryOf(event, days))
  await nameSubjects(tenant, entries)
  await insertNew(tenant.events, entries)
  await keepFor(await retentionDays(context, tenant), days, tenant, entries)
  await blankNames(tenant, events)
  await blankDeletedActors(tenant, entries)
  if (await scheduleDeliveries(tenant, entries)) context.deliveryJob.wake()
  for (const event of events) if (event.type === 'settings.updated') await applySettings(context, tenant, event)
}

/** Gives entries another expiry if the organization chose other days meanwhile: the job may have passed them already. */
async function keepFor(days: number, given: number, { events }: Tenant, entries: readonly Entry[]): Promise<void> {
  if (days === given) return
  const expiring = entries.map(({ _id, at }) => ({
    updateOne: { filter: { _id }, update: { $set: { expiresAt: expiryOf(at, days) } } },
  }))
  await events.bulkWrite(expiring)
}

function isAccountMail({ type, data }: Event): boolean {
  return kindOf(type) === 'email' && (data.kind ?? 'account') === 'account'
}

async function applySettings(context: Context, tenant: Tenant, { data, time }: Event): Promise<void> {
  const { eventRetentionDays } = data.settings as Events['settings.updated']['settings']
  if (await chooseRetention(tenant, eventRetentionDays, new Date(time))) context.retentionJob.wake()
}

type Entry = Omit<LoggedEvent, 'organization'>

function entryOf({ id, type, subject, time, data, origin, source }: Event, days: number): Entry {
  const at = new Date(time)
  return {
    _id: entryId(id),
    type,
    at,
    actor: (data.actor as Actor | undefined) ?? origin?.actor ?? { kind: 'system', id: null, name: source },
    credential: origin?.credential ?? null,
    ip: origin?.ip ?? null,
    requestId: origin?.requestId ?? null,
    subject: { kind: kindOf(type), id: subject, name: nameIn(data, subject) },
    data: JSON.stringify(data.actor ? { ...data, actor: {} } : data),
    expiresAt: expiryOf(at, days),
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

/** Blanks the names of deleted contacts and users in their entries. What the entries say stays. */
async function blankNames({ events: log }: Tenant, events: readonly Event[]): Promise<void> {
  const deletedBy = (type: string) => events.filter(event => event.type === type).map(({ subject }) => subject)
  const users = deletedBy('user.deleted')
  const subjects = [...deletedBy('contact.deleted'), ...users]
  if (subjects.length > 0) await log.updateMany({ 'subject.id': { $in: subjects } }, { $set: { 'subject.name': null } })
  if (users.length > 0) await log.updateMany({ 'actor.id': { $in: users } }, { $set: { 'actor.name': ERASED } })
}

/** Blanks the names of users who were deleted before: a job that they started can go on publishing events. */
async function blankDeletedActors({ events: log }: Tenant, entries: readonly Entry[]): Promise<void> {
  const byUsers = Map.groupBy(
    entries.filter(({ actor }) => actor.kind === 'user'),
    ({ actor }) => actor.id,
  )
  if (byUsers.size === 0) return
  const deletions = { type: 'user.deleted', 'subject.id': { $in: [...byUsers.keys()] } }
  const deleted = await log.find(deletions, { projection: { subject: 1 } })
  const ids = deleted.flatMap(({ subject }) => byUsers.get(subject.id) ?? []).map(({ _id }) => _id)
  if (ids.length > 0) await log.updateMany({ _id: { $in: ids } }, { $set: { 'actor.name': ERASED } })
}

type Named = { _id?: string; name?: string; email?: string; domain?: string; slug?: string }

/**
 * Gives subjects whose data has no name the one of their last event before: events of one subject arrive in order, so it
 * has the name if any has. Emails never have one.
 */
async function nameSubjects(tenant: Tenant, entries: readonly Entry[]): Promise<void> {
  const nameless = entries.filter(({ subject: { kind, name } }) => name === null && kind !== 'email')
  const subjects = new Set(nameless.map(({ subject }) => subject.id))
  const known = [...subjects].map(async id => [id, await lastName(tenant, id)] as const)
  const names = new Map(await Promise.all(known))
  for (const { subject } of entries) {
    subject.name ??= names.get(subject.id) ?? null
    if (subject.name !== null) names.set(subject.id, subject.name)
  }
}

/** Returns the name that a subject had in its last event. */
async function lastName({ events }: Tenant, subject: string): Promise<string | null> {
  const sort = { at: -1, _id: -1 } as const
  return (await events.findOne({ 'subject.id': subject }, { sort, projection: { subject: 1 } }))?.subject.name ?? null
}
