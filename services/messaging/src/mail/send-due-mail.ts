import { emailKeyOf } from '@rollcall/contract'
import { retry } from '@rollcall/runtime'
import { addEvents, isDuplicate } from '@rollcall/store'
import type { Context } from '../context.ts'
import { deliver } from './deliver.ts'
import { DeliveryError, toDeliveryError } from './delivery-error.ts'
import type { Mail, MailStatus } from './mail.model.ts'
import { mailEvent } from './mail-events.ts'

const LONGEST_WAIT_MS = 6 * 3_600_000
/** Sooner than another worker looks for mail that nobody has any more. */
const NOTE_AGAIN_MS = 500

/** Sends a mail that is due. What cannot be sent now waits ever longer, until its attempts are used up. */
export async function sendDueMail(context: Context, mail: Mail): Promise<void> {
  try {
    refuseExpired(mail)
    await refuseBounced(context, mail)
    await hand(context, mail)
  } catch (thrown) {
    return noteFailure(context, mail, toDeliveryError(thrown))
  }
  await noteSent(context, mail)
}

/** What a server has taken must not go out again: it is written down, however long the database is away. */
async function noteSent(context: Context, mail: Mail): Promise<void> {
  await retry(() => finish(context, mail, 'sent'), {
    maxMs: NOTE_AGAIN_MS,
    onRetry: err => context.logger.warn({ err, mail: String(mail._id) }, 'mail sent, which is not written down yet'),
  })
}

async function noteFailure(context: Context, mail: Mail, failure: DeliveryError): Promise<void> {
  const { kind, message } = failure
  context.logger.info({ mail: String(mail._id), attempt: mail.attempts, kind, err: failure }, 'mail not sent')
  if (failure.isBadAddress) await noteBounce(context, mail, message)
  if (kind !== 'transient') await finish(context, mail, kind, message)
  else if (mail.attempts >= context.config.MAIL_ATTEMPTS) await finish(context, mail, 'failed', message)
  else await postpone(context, mail, message)
}

async function hand(context: Context, mail: Mail): Promise<void> {
  const { organization, sender: senderId, messageId, createdAt: date, to, subject, text, html } = mail
  const organizationId = String(organization)
  const sender = senderId && (await context.of({ organizationId }).senders.findOne({ _id: senderId }))
  if (senderId && !sender) throw new DeliveryError('failed', 'the sender is gone')
  if (sender?.active === false) throw new DeliveryError('failed', 'the sender is not active')
  await deliver(context, organizationId, sender, { messageId, date, to, subject, text: text ?? '', html })
}

function refuseExpired({ expiresAt }: Mail): void {
  if (expiresAt && expiresAt <= new Date()) throw new DeliveryError('failed', 'the code or link in it has expired')
}

async function refuseBounced(context: Context, { organization, to }: Mail): Promise<void> {
  const { bouncedAddresses } = context.of({ organizationId: String(organization) })
  const bounced = await bouncedAddresses.findOne({ emailKey: emailKeyOf(to) })
  if (bounced) throw new DeliveryError('bounced', `the address bounced before: ${bounced.error}`)
}

async function noteBounce(context: Context, { organization, to }: Mail, error: string): Promise<void> {
  const { bouncedAddresses } = context.of({ organizationId: String(organization) })
  await bouncedAddresses.insertOne({ emailKey: emailKeyOf(to), error }).catch(thrown => {
    if (!isDuplicate(thrown)) throw thrown
  })
}

/** Ends a mail, once: whoever else has sent it as well finds it ended. */
async function finish(context: Context, mail: Mail, status: MailStatus, error?: string): Promise<void> {
  const { mails } = context.of({ organizationId: String(mail.organization) })
  const at = new Date()
  const end = { status, error: error ?? null, dueAt: null, finishedAt: at, text: null, html: null }
  const isFirst = await context.store.transaction(async session => {
    const { matchedCount } = await mails.updateOne({ _id: mail._id, status: 'queued' }, { $set: end }, { session })
    if (matchedCount === 1) await addEvents(session, [mailEvent(mail, status, at, error)])
    return matchedCount === 1
  })
  if (isFirst) context.mailsEnded.inc({ outcome: status })
}

/** Not beyond its expiry: then it is taken once more, to end and to drop its text. */
async function postpone(
  context: Context,
  { _id, organization, attempts, expiresAt }: Mail,
  error: string,
): Promise<void> {
  const { mails } = context.of({ organizationId: String(organization) })
  const waitMs = Math.min(context.config.MAIL_RETRY_MS * 4 ** (attempts - 1), LONGEST_WAIT_MS)
  const next = Date.now() + waitMs * (0.9 + Math.random() * 0.2)
  const dueAt = new Date(Math.min(next, expiresAt?.getTime() ?? next))
  await mails.updateOne({ _id, status: 'queued' }, { $set: { dueAt, error } })
}
