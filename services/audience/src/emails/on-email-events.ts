import type { Digest, DigestedEvent } from '@rollcall/bus'
import { emailKeyOf } from '@rollcall/contract'
import { addEvents, type Draft } from '@rollcall/store'
import { type ClientSession, Types } from 'mongoose'
import type { Tenant } from '../collections.ts'
import { changeAll } from '../contacts/change-contact.ts'
import type { Change } from '../contacts/changes.ts'
import { type Contact, contactPositions } from '../contacts/contact.model.ts'
import { changedEvent } from '../contacts/contact-events.ts'
import { lockContacts } from '../contacts/lock-contact.ts'
import type { Data } from '../context.ts'
import { type ContactEmail, type EmailStatus, emailStatuses } from './contact-email.model.ts'

type EmailEvent = DigestedEvent<`email.${EmailStatus}`>
type Email = EmailEvent['data']
/** What an event says of an email to a contact. */
type Update = { contact: Contact; email: Email; status: EmailStatus; at: Date; type: EmailEvent['type'] }

const messaging = { kind: 'system', id: null, name: 'messaging' } as const
/** The address status that follows from a delivered or bounced email. One that failed says nothing of the address. */
const addressStatuses: ReadonlyMap<string, Contact['emailStatus']> = new Map([
  ['email.sent', 'ok'],
  ['email.delivered', 'ok'],
  ['email.bounced', 'bounced'],
  ['email.complained', 'complained'],
])

/**
 * Records the emails to each contact. Each event counts once, and a status only advances, in whatever order events arrive.
 * Mail of the installation is recorded with no contact. The last email that was delivered to the contact's
 * address, or bounced there, sets its `emailStatus`. Mail to unknown addresses is ignored. A campaign makes as many events
 * as it has recipients, so they are recorded together.
 */
export function onEmailEvents(data: Data): Digest<ClientSession, EmailEvent['type']> {
  return {
    name: 'audience.on-email-events',
    types: emailStatuses.map(status => `email.${status}` as const),
    // One of a campaign is queued only when it is handed over: what became of it follows at once.
    ignores: ({ type, data }) => type === 'email.queued' && data.kind === 'campaign',
    apply: (events, { organization, tx }) => record(data, organization, events, tx),
  }
}

async function record(
  data: Data,
  organizationId: string,
  events: readonly EmailEvent[],
  tx: ClientSession,
): Promise<void> {
  const tenant = data.collections.of(organizationId)
  const known = await tenant.emails.find({ emailId: { $in: events.map(event => event.data.emailId) } }, { tx })
  const emails = new Map(known.map(email => [email.emailId, email]))
  const updates = await toContacts(tenant, events, emails, tx)
  if (updates.length === 0) return
  const ids = [...new Map(updates.map(({ contact: { _id } }) => [String(_id), _id])).values()]
  await lockContacts(tenant.contacts, ids, tx)
  await storeEmails(tenant, updates, emails, tx)
  const logged = updates.filter(({ status }) => status !== 'queued')
  const changes = await statusChanges(tenant, logged, tx)
  await tenant.history.insertMany(
    logged.map(update => entryOf(update, changes.get(update))),
    { tx },
  )
  for (const update of logged) if (update.status === 'complained') await optOut(data, organizationId, update, tx)
  await changeStatuses(data, organizationId, changes, tx)
}

/** Opts out a contact that reported a mail as spam. */
async function optOut(
  data: Data,
  organizationId: string,
  { contact: { _id }, email: { emailId } }: Update,
  tx: ClientSession,
): Promise<void> {
  const request = {
    organizationId,
    id: String(_id),
    type: 'contact.updated' as const,
    actor: messaging,
    patch: { unsubscribed: true },
    optOut: { how: 'complaint' as const, emailId },
  }
  await changeAll(data)(tx, [request], organizationId)
}

/** Returns what events say of emails to contacts: to the one that the email names, else the one with its address. */
async function toContacts(
  { contacts }: Tenant,
  events: readonly EmailEvent[],
  emails: ReadonlyMap<string, ContactEmail>,
  tx: ClientSession,
): Promise<Update[]> {
  const ofContacts = events.filter(({ data: { kind = 'account' } }) => kind !== 'account')
  const nameIn = ({ emailId, contactId }: Email) =>
    String(emails.get(emailId)?.contact ?? (contactId && Types.ObjectId.isValid(contactId) ? contactId : ''))
  const names = ofContacts.map(({ data }) => nameIn(data)).filter(Boolean)
  const keys = ofContacts.filter(({ data }) => !nameIn(data) && !data.userId).map(({ data }) => emailKeyOf(data.to))
  const findIn = (field: '_id' | 'emailKey', values: string[]) =>
    values.length > 0 ? contacts.find({ [field]: { $in: values } }, { tx }) : []
  const found = [...(await findIn('_id', names)), ...(await findIn('emailKey', keys))]
  const byId = new Map(found.map(contact => [String(contact._id), contact]))
  const byKey = new Map(found.map(contact => [contact.emailKey, contact]))
  return ofContacts.flatMap(({ type, data: email }) => {
    const name = nameIn(email)
    const contact = name ? byId.get(name) : email.userId ? undefined : byKey.get(emailKeyOf(email.to))
    const status = type.slice('email.'.length) as EmailStatus
    return contact ? [{ contact, email, status, at: new Date(email.at), type }] : []
  })
}

/** Stores the emails, each in one line that only moves on. `emails` are those that are stored already. */
async function storeEmails(
  { emails: scope }: Tenant,
  updates: readonly Update[],
  emails: ReadonlyMap<string, ContactEmail>,
  tx: ClientSession,
): Promise<void> {
  const lines = new Map<string, Line>()
  for (const update of updates) {
    const { emailId } = update.email
    lines.set(emailId, moved(lines.get(emailId) ?? emails.get(emailId), update))
  }
  const [old, fresh] = [[] as Line[], [] as Line[]]
  for (const [emailId, line] of lines) (emails.has(emailId) ? old : fresh).push(line)
  await scope.insertMany(fresh as Draft<ContactEmail>[], { tx })
  const changed = old.filter(line => line !== emails.get(line.emailId))
  await scope.bulkWrite(
    changed.map(({ emailId, status, error, sentAt, at }) => ({
      updateOne: { filter: { emailId }, update: { $set: { status, error, sentAt, at } } },
    })),
    { tx },
  )
}

type Line = Omit<ContactEmail, '_id' | 'organization'>

/** Returns the line of an email after an update; the line itself if nothing changes. */
function moved(line: Line | undefined, { contact, email, status, at }: Update): Line {
  const { emailId, to, subject, sender } = email
  const error = email.error || null
  const sentAt = status === 'sent' ? at : null
  if (!line) return { contact: contact._id, emailId, to, subject, sender, status, at, sentAt, error }
  const isFurther = emailStatuses.indexOf(status) > emailStatuses.indexOf(line.status)
  if (!isFurther && !sentAt && at >= line.at) return line
  return { ...line, ...(isFurther && { status, error }), ...(sentAt && { sentAt }), ...(at < line.at && { at }) }
}

/** Returns the changes of `emailStatus`, in order. An update changes nothing if a later email has set it already. */
async function statusChanges(
  { history }: Tenant,
  updates: readonly Update[],
  tx: ClientSession,
): Promise<Map<Update, Change>> {
  const deciding = updates.filter(({ type }) => addressStatuses.has(type))
  const isOfAddress = ({ contact, email }: Update) => emailKeyOf(email.to) === contact.emailKey
  const differs = ({ contact, type }: Update) => addressStatuses.get(type) !== contact.emailStatus
  const doubtful = deciding.filter(update => isOfAddress(update) && differs(update))
  const changes = new Map<Update, Change>()
  if (doubtful.length === 0) return changes
  const earliest = new Date(Math.min(...deciding.map(({ at }) => at.getTime())))
  const people = doubtful.map(({ contact }) => contact._id)
  const decisions = await history.aggregate<{ person: Types.ObjectId; at: Date }>(
    [
      // Two conditions: some servers use no index for both at once.
      { $match: { person: { $in: people } } },
      { $match: { at: { $gt: earliest }, type: { $in: [...addressStatuses.keys()] } } },
      { $project: { person: 1, at: 1 } },
    ],
    { tx },
  )
  const decidedAt = new Map<string, number>()
  const decide = (person: Types.ObjectId, at: Date) =>
    decidedAt.set(String(person), Math.max(at.getTime(), decidedAt.get(String(person)) ?? 0))
  for (const { person, at } of decisions) decide(person, at)
  const statuses = new Map<string, Contact['emailStatus']>()
  for (const update of deciding) {
    const { _id, emailStatus } = update.contact
    const from = statuses.get(String(_id)) ?? emailStatus
    const to = addressStatuses.get(update.type)!
    const isLatest = (decidedAt.get(String(_id)) ?? 0) <= update.at.getTime()
    if (to !== from && isOfAddress(update) && isLatest) {
      changes.set(update, { key: 'emailStatus', from, to })
      statuses.set(String(_id), to)
    }
    decide(_id, update.at)
  }
  return changes
}

async function changeStatuses(
  data: Data,
  organizationId: string,
  changes: ReadonlyMap<Update, Change>,
  tx: ClientSession,
): Promise<void> {
  if (changes.size === 0) return
  const { contacts } = data.collections.of(organizationId)
  const last = new Map([...changes].map(([{ contact }, { to }]) => [String(contact._id), { _id: contact._id, to }]))
  // One write for each status: most contacts of a campaign get the same one.
  for (const [emailStatus, some] of Map.groupBy(last.values(), ({ to }) => to as Contact['emailStatus']))
    await contacts.updateMany({ _id: { $in: some.map(({ _id }) => _id) } }, { $set: { emailStatus } }, { tx })
  const changed = [...changes.keys()].map(({ contact }) => contact.position)
  await contactPositions(data, organizationId).invalidate(tx, [...new Set(changed)])
  await addEvents(
    tx,
    [...changes].map(([{ contact, at }, change]) => changedEvent(contact, [change], messaging, at)),
  )
}

function entryOf({ contact, email, status, at, type }: Update, change: Change | undefined) {
  const { emailId, subject, error, url } = email
  const details = { ...(error && { error }), ...(url && { url }) }
  const data = { emailId, subject, ...details, ...(change && { changes: [change] }) }
  // What the person did is behaviour; the rest happened to the email.
  const kind = status === 'opened' || status === 'clicked' ? ('activity' as const) : ('email' as const)
  return { person: contact._id, kind, type, at, actor: messaging, data }
}
