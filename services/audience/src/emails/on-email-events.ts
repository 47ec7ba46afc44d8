import type { EventScope, Subscription } from '@rollcall/bus'
import { emailKeyOf, type Received } from '@rollcall/contract'
import { addEvents } from '@rollcall/store'
import { type ClientSession, Types } from 'mongoose'
import type { Tenant } from '../collections.ts'
import type { Change } from '../contacts/changes.ts'
import type { Contact } from '../contacts/contact.model.ts'
import { changedEvent } from '../contacts/contact-events.ts'
import { contactPositions } from '../contacts/contact-positions.ts'
import type { Data } from '../context.ts'
import { type EmailStatus, emailStatuses } from './contact-email.model.ts'

type Email = Received<`email.${EmailStatus}`>
/** What was heard of an email. */
type Heard = { organizationId: string; email: Email; status: EmailStatus; at: Date; type: string }

const messaging = { kind: 'system', id: null, name: 'messaging' } as const
/** What an email that was taken or refused says of the address. One that failed never got there. */
const telling: ReadonlyMap<string, Contact['emailStatus']> = new Map([
  ['email.sent', 'ok'],
  ['email.bounced', 'bounced'],
])

/**
 * Records which emails went to which contact. Each event counts once, and the status only moves on, in whatever order
 * they come. A contact and an account of one address share no mail. The last email that reached the contact's address,
 * or was refused there, sets its `emailStatus`. Mail to nobody in the audience is ignored.
 */
export function onEmailEvents(data: Data): Subscription<ClientSession> {
  const noteAs =
    (status: EmailStatus) =>
    (email: Email, { event: { organization, type }, tx }: EventScope<ClientSession>) =>
      note(data, { organizationId: organization, email, status, at: new Date(email.at), type }, tx)
  return {
    name: 'audience.on-email-events',
    on: {
      'email.queued': noteAs('queued'),
      'email.sent': noteAs('sent'),
      'email.failed': noteAs('failed'),
      'email.bounced': noteAs('bounced'),
    },
  }
}

async function note(data: Data, heard: Heard, tx: ClientSession): Promise<void> {
  const collections = data.collections.of(heard.organizationId)
  const contact = await recipientOf(collections, heard.email, tx)
  if (!contact) return
  await keepEmail(collections, contact, heard, tx)
  if (heard.status === 'queued') return
  const change = await statusChange(collections, contact, heard, tx)
  await writeEntry(collections, contact, heard, change, tx)
  if (!change) return
  await collections.contacts.updateOne({ _id: contact._id }, { $set: { emailStatus: change.to } }, { tx })
  await contactPositions(data, heard.organizationId).invalidate(tx)
  await addEvents(tx, [changedEvent(contact, [change], messaging, heard.at)])
}

/** What an email says of the contact's address, unless a later one has said something already. */
async function statusChange(
  { history }: Tenant,
  { _id: person, emailKey, emailStatus: from }: Contact,
  { email, at, type }: Heard,
  tx: ClientSession,
): Promise<Change | undefined> {
  const to = telling.get(type)
  if (to === undefined || to === from || emailKeyOf(email.to) !== emailKey) return undefined
  const since = await history.find({ person, at: { $gt: at } }, { tx, projection: { type: 1 } })
  return since.some(entry => telling.has(entry.type)) ? undefined : { key: 'emailStatus', from, to }
}

/** Whom an email is for: the contact it names, else, for an organization's message that names nobody, the address. */
async function recipientOf(
  { contacts, emails }: Tenant,
  { emailId, kind = 'account', contactId, userId, to }: Email,
  tx: ClientSession,
): Promise<Contact | null> {
  const known = await emails.findOne({ emailId }, { tx })
  const named = known?.contact ?? (contactId && Types.ObjectId.isValid(contactId) ? contactId : undefined)
  if (named) return contacts.findOne({ _id: named }, { tx })
  if (kind === 'account' || userId) return null
  return contacts.findOne({ emailKey: emailKeyOf(to) }, { tx })
}

async function keepEmail(
  { emails }: Tenant,
  contact: Contact,
  { email, status, at }: Heard,
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
  { email, at, type }: Heard,
  change: Change | undefined,
  tx: ClientSession,
): Promise<void> {
  const { emailId, subject, error } = email
  const data = { emailId, subject, ...(error && { error }), ...(change && { changes: [change] }) }
  const entry = { person: contact._id, kind: 'email', type, at, actor: messaging, data } as const
  await history.insertOne(entry, { tx })
}
