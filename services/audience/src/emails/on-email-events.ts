import { type Handle, UnprocessableEvent } from '@rollcall/bus'
import { emailKeyOf } from '@rollcall/contract'
import type { Event } from '@rollcall/runtime'
import { addEvents, consumeOnce } from '@rollcall/store'
import { type ClientSession, Types } from 'mongoose'
import { z } from 'zod'
import type { Change } from '../contacts/changes.ts'
import type { Contact } from '../contacts/contact.model.ts'
import { changedEvent } from '../contacts/contact-events.ts'
import { contactPositions } from '../contacts/contact-positions.ts'
import type { Collections, Data } from '../data.ts'
import { type EmailStatus, emailStatuses } from './contact-email.model.ts'

const emailSchema = z.object({
  emailId: z.string().min(1),
  to: z.string().min(1),
  subject: z.string().default(''),
  sender: z.string().default(''),
  /** Mail of the installation to an account is no contact's, whatever the address; so is what does not say. */
  kind: z.enum(['account', 'transactional', 'campaign', 'test']).default('account'),
  contactId: z.string().nullish(),
  userId: z.string().nullish(),
  at: z.iso.datetime({ offset: true }),
  error: z.string().nullish(),
})
type Email = z.infer<typeof emailSchema>
/** What was heard of an email. */
type Heard = { email: Email; status: EmailStatus; at: Date; type: string }

const messaging = { kind: 'system', id: null, name: 'messaging' } as const
/** What a person does with an email is an activity of theirs; that we sent it is none. */
const ownDoing: readonly EmailStatus[] = ['opened', 'clicked']
/** What an email that came so far, or that was refused, says of the address. One that failed never got there. */
const telling: ReadonlyMap<string, Contact['emailStatus']> = new Map([
  ['email.sent', 'ok'],
  ['email.delivered', 'ok'],
  ['email.opened', 'ok'],
  ['email.clicked', 'ok'],
  ['email.bounced', 'bounced'],
])

/**
 * Records which emails went to which contact. Each event counts once, and the status only moves on, in whatever order
 * they come. A contact and an account of one address share no mail. The last email that reached the contact's address,
 * or was refused there, sets its `emailStatus`. Mail to nobody in the audience is ignored.
 */
export function onEmailEvents(data: Data): Handle {
  return async event => {
    const status = emailStatuses.find(each => event.type === `email.${each}`)
    if (!status) return
    const { data: email, error } = emailSchema.safeParse(event.data)
    if (!email) throw new UnprocessableEvent(`${event.type} is not as declared: ${error.message}`)
    const heard = { email, status, at: new Date(email.at), type: event.type }
    await consumeOnce(data.store, 'audience.on-email-events', event, session => note(data, event, heard, session))
  }
}

async function note(data: Data, { organization }: Event, heard: Heard, session: ClientSession): Promise<void> {
  const collections = data.of({ organizationId: organization })
  const contact = await recipientOf(collections, heard.email, session)
  if (!contact) return
  await keepEmail(collections, contact, heard, session)
  if (heard.status === 'queued') return
  const change = await statusChange(collections, contact, heard, session)
  await writeEntry(collections, contact, heard, change, session)
  if (!change) return
  await collections.contacts.updateOne({ _id: contact._id }, { $set: { emailStatus: change.to } }, { session })
  await contactPositions(data, organization).touch(session)
  await addEvents(session, [changedEvent(contact, [change], messaging, heard.at)])
}

/** What an email says of the contact's address, unless a later one has said something already. */
async function statusChange(
  { history }: Collections,
  { _id: person, emailKey, emailStatus: from }: Contact,
  { email, at, type }: Heard,
  session: ClientSession,
): Promise<Change | undefined> {
  const to = telling.get(type)
  if (to === undefined || to === from || emailKeyOf(email.to) !== emailKey) return undefined
  const since = await history.find({ person, at: { $gt: at } }, { session, projection: { type: 1 } })
  return since.some(entry => telling.has(entry.type)) ? undefined : { key: 'emailStatus', from, to }
}

/** Whom an email is for: the contact it names, else, for an organization's message that names nobody, the address. */
async function recipientOf(
  { contacts, emails }: Collections,
  { emailId, kind, contactId, userId, to }: Email,
  session: ClientSession,
): Promise<Contact | null> {
  const known = await emails.findOne({ emailId }, { session })
  const named = known?.contact ?? (contactId && Types.ObjectId.isValid(contactId) ? contactId : undefined)
  if (named) return contacts.findOne({ _id: named }, { session })
  if (kind === 'account' || userId) return null
  return contacts.findOne({ emailKey: emailKeyOf(to) }, { session })
}

async function keepEmail(
  { emails }: Collections,
  contact: Contact,
  { email, status, at }: Heard,
  session: ClientSession,
): Promise<void> {
  const { emailId, to, subject, sender } = email
  const error = email.error || null
  const sentAt = status === 'sent' ? at : null
  const known = await emails.findOne({ emailId }, { session })
  if (!known) {
    await emails.insertOne(
      { contact: contact._id, emailId, to, subject, sender, status, at, sentAt, error },
      { session },
    )
    return
  }
  const isFurther = emailStatuses.indexOf(status) > emailStatuses.indexOf(known.status)
  const progress = {
    ...(isFurther && { status, error }),
    ...(sentAt && { sentAt }),
    ...(at < known.at && { at }),
  }
  if (Object.keys(progress).length > 0) await emails.updateOne({ _id: known._id }, { $set: progress }, { session })
}

async function writeEntry(
  { history }: Collections,
  contact: Contact,
  { email, status, at, type }: Heard,
  change: Change | undefined,
  session: ClientSession,
): Promise<void> {
  const { emailId, subject, error } = email
  const data = { emailId, subject, ...(error && { error }), ...(change && { changes: [change] }) }
  const kind = ownDoing.includes(status) ? 'activity' : 'email'
  await history.insertOne({ person: contact._id, kind, type, at, actor: messaging, data }, { session })
}
