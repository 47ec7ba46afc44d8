import type { EventScope, Subscription } from '@rollcall/bus'
import { emailKeyOf, type Received } from '@rollcall/contract'
import { addEvents } from '@rollcall/store'
import { type ClientSession, Types } from 'mongoose'
import type { Tenant } from '../collections.ts'
import { changeAll } from '../contacts/change-contact.ts'
import type { Change } from '../contacts/changes.ts'
import { type Contact, contactPositions } from '../contacts/contact.model.ts'
import { changedEvent } from '../contacts/contact-events.ts'
import { lockContact } from '../contacts/lock-contact.ts'
import type { Data } from '../context.ts'
import { type EmailStatus, emailStatuses } from './contact-email.model.ts'

type Email = Received<`email.${EmailStatus}`>
/** What an event says of an email. */
type EmailUpdate = { organizationId: string; email: Email; status: EmailStatus; at: Date; type: string }

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
 * address, or bounced there, sets its `emailStatus`. Mail to unknown addresses is ignored.
 */
export function onEmailEvents(data: Data): Subscription<ClientSession> {
  const recordAs =
    (status: EmailStatus) =>
    (email: Email, { event: { organization, type }, tx }: EventScope<ClientSession>) =>
      record(data, { organizationId: organization, email, status, at: new Date(email.at), type }, tx)
  return {
    name: 'audience.on-email-events',
    // One of a campaign is queued only when it is handed over: what became of it follows at once.
    ignores: ({ type, data }) => type === 'email.queued' && data.kind === 'campaign',
    on: {
      'email.queued': recordAs('queued'),
      'email.sent': recordAs('sent'),
      'email.failed': recordAs('failed'),
      'email.bounced': recordAs('bounced'),
      'email.suppressed': recordAs('suppressed'),
      'email.delivered': recordAs('delivered'),
      'email.opened': recordAs('opened'),
      'email.clicked': recordAs('clicked'),
      'email.complained': recordAs('complained'),
    },
  }
}

async function record(data: Data, update: EmailUpdate, tx: ClientSession): Promise<void> {
  const collections = data.collections.of(update.organizationId)
  const contact = await recipientOf(collections, update.email, tx)
  if (!contact || !(await lockContact(collections.contacts, contact._id, tx))) return
  await storeEmail(collections, contact, update, tx)
  if (update.status === 'queued') return
  const change = await statusChange(collections, contact, update, tx)
  await writeEntry(collections, contact, update, change, tx)
  if (update.status === 'complained') await optOut(data, contact, update, tx)
  if (!change) return
  await collections.contacts.updateOne({ _id: contact._id }, { $set: { emailStatus: change.to } }, { tx })
  await contactPositions(data, update.organizationId).invalidate(tx, [contact.position])
  await addEvents(tx, [changedEvent(contact, [change], messaging, update.at)])
}

/** Opts out a contact that reported a mail as spam. */
async function optOut(
  data: Data,
  { _id }: Contact,
  { organizationId, email: { emailId } }: EmailUpdate,
  tx: ClientSession,
): Promise<void> {
  const request = {
    organizationId,
    id: String(_id),
    type: 'contact.updated' as const,
    actor: messaging,
    patchOf: () => ({ unsubscribed: true }),
    optOut: { how: 'complaint' as const, emailId },
  }
  await changeAll(data)(tx, [request], organizationId)
}

/** Returns the change of the contact's `emailStatus`, unless a later email has set it already. */
async function statusChange(
  { history }: Tenant,
  { _id: person, emailKey, emailStatus: from }: Contact,
  { email, at, type }: EmailUpdate,
  tx: ClientSession,
): Promise<Change | undefined> {
  const to = addressStatuses.get(type)
  if (to === undefined || to === from || emailKeyOf(email.to) !== emailKey) return undefined
  const since = await history.find({ person, at: { $gt: at } }, { tx, projection: { type: 1 } })
  return since.some(entry => addressStatuses.has(entry.type)) ? undefined : { key: 'emailStatus', from, to }
}

/** Returns the recipient: the contact that the email names, else the one with its address. */
async function recipientOf(
  { contacts, emails }: Tenant,
  { emailId, kind = 'account', contactId, userId, to }: Email,
  tx: ClientSession,
): Promise<Contact | null> {
  if (kind === 'account') return null
  const known = await emails.findOne({ emailId }, { tx })
  const named = known?.contact ?? (contactId && Types.ObjectId.isValid(contactId) ? contactId : undefined)
  if (named) return contacts.findOne({ _id: named }, { tx })
  if (userId) return null
  return contacts.findOne({ emailKey: emailKeyOf(to) }, { tx })
}

async function storeEmail(
  { emails }: Tenant,
  contact: Contact,
  { email, status, at }: EmailUpdate,
  tx: ClientSession,
): Promise<void> {
  const { emailId, to, subject, sender } = email
  const error = email.error || null
  const sentAt = status === 'sent' ? at : null
  const known = await emails.findOne({ emailId }, { tx })
  if (!known) {
    await emails.insertOne({ contact: contact._id, emailId, to, subject, sender, status, at, sentAt, error }, { tx })
    return
  }
  const isFurther = emailStatuses.indexOf(status) > emailStatuses.indexOf(known.status)
  const progress = {
    ...(isFurther && { status, error }),
    ...(sentAt && { sentAt }),
    ...(at < known.at && { at }),
  }
  if (Object.keys(progress).length > 0) await emails.updateOne({ _id: known._id }, { $set: progress }, { tx })
}

async function writeEntry(
  { history }: Tenant,
  contact: Contact,
  { email, status, at, type }: EmailUpdate,
  change: Change | undefined,
  tx: ClientSession,
): Promise<void> {
  const { emailId, subject, error, url } = email
  const details = { ...(error && { error }), ...(url && { url }) }
  const data = { emailId, subject, ...details, ...(change && { changes: [change] }) }
  // What the person did is behaviour; the rest happened to the email.
  const kind = status === 'opened' || status === 'clicked' ? ('activity' as const) : ('email' as const)
  const entry = { person: contact._id, kind, type, at, actor: messaging, data }
  await history.insertOne(entry, { tx })
}
