import { AppError } from '@rollcall/contract'
import type { QueueRecipientsRequest, QueueRecipientsResponse } from '@rollcall/protos/gen/messaging-v1.ts'
import { insertOf } from '@rollcall/store'
import { Types } from 'mongoose'
import type { Context } from '../context.ts'
import type { Mail } from '../mail/mail.model.ts'
import { domainOf } from '../senders/sender.model.ts'
import type { Mailing } from './mailing.model.ts'

const MAX_RECIPIENTS = 1000

/** Adds the recipients that are new to a mailing, with their count, in one transaction. A cancelled mailing gets none. */
export async function queueRecipients(
  { store, collections, mailingsJob }: Context,
  { mailingId, recipients }: QueueRecipientsRequest,
  organizationId: string,
): Promise<QueueRecipientsResponse> {
  if (recipients.length > MAX_RECIPIENTS)
    throw new AppError('request.invalid_field', { path: 'recipients', reason: `at most ${MAX_RECIPIENTS} items` })
  const { mails, mailings, senders } = collections.of(organizationId)
  const distinct = [...new Map(recipients.map(recipient => [recipient.contactId, recipient])).values()]
  const keyOf = (contactId: string) => `mailing ${mailingId}: ${contactId}`
  const mailing = await mailings.get(mailingId, 'mailing')
  const sender = await senders.findOne({ _id: mailing.sender })
  const from = sender?.email ?? ''
  const queued = await store.transaction(
    async tx => {
      const keys = distinct.map(({ contactId }) => keyOf(contactId))
      const known = await mails.find({ key: { $in: keys } }, { tx, projection: { key: 1 } })
      const knownKeys = new Set(known.map(({ key }) => key))
      const fresh = distinct.filter(({ contactId }) => !knownKeys.has(keyOf(contactId)))
      if (fresh.length === 0) return 0
      const drafts = fresh.map(({ contactId, email }) =>
        draftOf(mailing, { contactId, email, from, key: keyOf(contactId) }),
      )
      const counted = { 'counts.recipients': fresh.length, 'counts.waiting': fresh.length }
      const takesThem = { _id: mailing._id, state: { $ne: 'cancelled' } }
      const { matchedCount } = await mailings.updateOne(takesThem, { $inc: counted }, { tx })
      if (matchedCount === 0) return 0
      await mails.bulkWrite(drafts.map(insertOf), { tx })
      return fresh.length
    },
    { queue: `mailing ${mailingId}` },
  )
  if (queued > 0 && mailing.state === 'sending') mailingsJob.wake(mailing)
  return { queued }
}

type Added = { contactId: string; email: string; from: string; key: string }

/** Returns a complete document, as bulk writes need it. */
function draftOf({ _id: campaign, sender, subject }: Mailing, { contactId, email, from, key }: Added) {
  const _id = new Types.ObjectId()
  return {
    _id,
    key,
    kind: 'campaign',
    campaign,
    contact: contactId,
    to: email,
    subject,
    text: null,
    html: null,
    replyTo: null,
    headers: null,
    user: null,
    sender,
    from,
    messageId: `<${_id}@${domainOf(from)}>`,
    expiresAt: null,
    status: 'waiting',
    nextTryAt: new Date(0),
    attempts: 0,
    failures: 0,
    dueAt: null,
    error: null,
    sendAt: null,
    sentAt: null,
    steps: [],
    finishedAt: null,
  } satisfies Omit<Mail, 'organization' | 'createdAt' | 'updatedAt'>
}
