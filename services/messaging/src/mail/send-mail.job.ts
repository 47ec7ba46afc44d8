import { type DueJob, defineJob, type Outcome } from '@rollcall/jobs'
import { retry } from '@rollcall/runtime'
import { addEvents, type Unscoped } from '@rollcall/store'
import type { Context } from '../context.ts'
import { retryDuplicate, suppress, suppressionsOf } from '../suppressions/suppress.ts'
import { deliver } from './deliver.ts'
import { DeliveryError, toDeliveryError } from './delivery-error.ts'
import type { Mail, MailStatus } from './mail.model.ts'
import { mailEvent } from './mail-events.ts'

const MAX_WAIT_MS = 6 * 3_600_000
/** Shorter than the time after which another worker claims the mail. */
const RETRY_WRITE_MS = 500

/**
 * Sends the mails that are due, each a record (`Mail`) that a replica claims by moving its `dueAt`:
 *
 * 1. Refuse a mail that has expired, or whose address is suppressed.
 * 2. Hand it to the mail server of its sender, or to the provider of the organization.
 * 3. Finish it as sent if accepted, or as bounced or failed if rejected permanently. Otherwise retry with backoff,
 * until no attempts are left. The status of a mail and its event are one transaction.
 *
 * After a crash between the second and the third step, the mail is sent twice. SMTP cannot prevent that.
 */
export function sendMailJob(model: Unscoped<Mail>, run: (mail: Mail) => Promise<Outcome>): DueJob {
  return defineJob({ name: 'mails', due: { model }, concurrency: 20, concurrencyPerOrganization: 5, run })
}

/** Sends one claimed mail, or returns when to retry. */
export async function sendMail(context: Context, mail: Mail): Promise<Outcome> {
  try {
    refuseExpired(mail)
    await refuseSuppressed(context, mail)
    await deliverMail(context, mail)
  } catch (thrown) {
    return recordFailure(context, mail, toDeliveryError(thrown))
  }
  return recordSent(context, mail)
}

/** Marks a mail as sent, retrying until the database is available, so that it is not sent again. */
async function recordSent(context: Context, mail: Mail): Promise<'done'> {
  return retry(() => finish(context, mail, 'sent'), {
    maxMs: RETRY_WRITE_MS,
    onRetry: err => context.logger.warn({ err, mail: String(mail._id) }, 'mail sent but not marked as sent, retrying'),
  })
}

async function recordFailure(context: Context, mail: Mail, failure: DeliveryError): Promise<Outcome> {
  const { kind, message } = failure
  context.logger.info({ mail: String(mail._id), attempt: mail.attempts, kind, err: failure }, 'mail not sent')
  if (failure.isBadAddress) await recordBounce(context, mail, message)
  if (kind !== 'transient') return finish(context, mail, kind, message)
  if (mail.attempts >= context.config.MAIL_ATTEMPTS) return finish(context, mail, 'failed', message)
  const { mails } = context.collections.of(mail.organization)
  await mails.updateOne(claimed(mail), { $set: { error: message } })
  return waitMs(context, mail)
}

async function deliverMail(context: Context, mail: Mail): Promise<void> {
  const { organization, sender: senderId, messageId, createdAt: date, to, subject, text, html } = mail
  const organizationId = String(organization)
  const sender = senderId && (await context.collections.of(organizationId).senders.findOne({ _id: senderId }))
  if (senderId && !sender) throw new DeliveryError('failed', 'the sender no longer exists')
  if (sender?.active === false) throw new DeliveryError('failed', 'the sender is not active')
  await deliver(context, organizationId, sender, { messageId, date, to, subject, text: text ?? '', html })
}

function refuseExpired({ expiresAt }: Mail): void {
  if (expiresAt && expiresAt <= new Date()) throw new DeliveryError('failed', 'the code or link in it has expired')
}

/** Refuses a suppressed address. Account mail is tried nevertheless: people need its codes and links. */
async function refuseSuppressed(context: Context, { organization, kind, to }: Mail): Promise<void> {
  if (kind === 'account') return
  const found = await suppressionsOf(context.collections.of(organization).suppressions, [to])
  for (const { reason, kind } of found.values())
    throw new DeliveryError('bounced', `the address is suppressed (${kind}): ${reason}`)
}

/** Suppresses an address that its server rejected, unless an account alone is mailed there. */
async function recordBounce(context: Context, { _id, organization, kind, to }: Mail, reason: string): Promise<void> {
  if (kind === 'account') return
  const cause = { email: to, kind: 'hard_bounce', reason, message: String(_id), at: new Date() } as const
  const { suppressions } = context.collections.of(organization)
  await retryDuplicate(() => context.store.transaction(tx => suppress(suppressions, cause, tx)))
}

/** Finishes a mail once. A success counts even if another worker has claimed the mail since. */
async function finish(context: Context, mail: Mail, status: MailStatus, error?: string): Promise<'done'> {
  const { mails } = context.collections.of(mail.organization)
  const at = new Date()
  const filter = status === 'sent' ? { _id: mail._id, status: 'queued' } : claimed(mail)
  const end = { status, error: error ?? null, dueAt: null, finishedAt: at, text: null, html: null }
  const isFirst = await context.store.transaction(async tx => {
    const { matchedCount } = await mails.updateOne(filter, { $set: end }, { tx })
    if (matchedCount === 1) await addEvents(tx, [mailEvent(mail, status, at, error)])
    return matchedCount === 1
  })
  if (isFirst) context.mailsEnded.inc({ outcome: status })
  return 'done'
}

/** Filter for a mail that this worker has claimed. */
function claimed({ _id, attempts }: Mail) {
  return { _id, attempts, status: 'queued' }
}

/** Returns the time until the next attempt, at most until the expiry: the last claim then removes the text. */
function waitMs({ config }: Context, { attempts, expiresAt }: Mail): number {
  const waitMs = Math.min(config.MAIL_RETRY_MS * 4 ** (attempts - 1), MAX_WAIT_MS) * (0.9 + Math.random() * 0.2)
  return expiresAt ? Math.min(waitMs, Math.max(0, expiresAt.getTime() - Date.now())) : waitMs
}
