import { AppError, emailKeyOf } from '@rollcall/contract'
import { defineJob, type Outcome } from '@rollcall/jobs'
import { retry } from '@rollcall/runtime'
import { addEvents, type Unscoped } from '@rollcall/store'
import type { Context } from '../context.ts'
import { recordBounceIn } from '../returns/soft-bounces.ts'
import { retryDuplicate } from '../suppressions/suppress.ts'
import { tracked } from '../tracking/tracked.ts'
import { deliver } from './deliver.ts'
import { DeliveryError, logFieldsOf, toDeliveryError } from './delivery-error.ts'
import { erasedSince, notErasedSince, withoutRecipient } from './erased-mail.ts'
import { checkAgain, holdHandOvers } from './hand-over.ts'
import type { Mail } from './mail.model.ts'
import { mailEvent, type PublishedStatus } from './mail-events.ts'
import { takeQuota } from './sending-quota.ts'
import type { SendControl } from './smtp.ts'

const MAX_WAIT_MS = 6 * 3_600_000
/** How long a message may take from the check of its recipient to its hand-over. */
const HOLD_MS = 5000
/** Shorter than the time after which another worker claims the mail. */
const RETRY_WRITE_MS = 500

/**
 * Creates the jobs that send the mails that are due, each a record (`Mail`) that a replica claims by moving its `dueAt`:
 *
 * 1. Begin a mail that was scheduled. Refuse one that has expired. Suppress a message whose contact is blocked or whose
 * address is suppressed. A message above the quotas of its organization is due again later.
 * 2. Hand it to the mail server of its sender, or to the provider of the organization.
 * 3. Finish it as sent if accepted, or as bounced or failed if rejected permanently. Otherwise retry with backoff,
 * until no attempts are left. The status of a mail and its event are one transaction.
 *
 * After a crash between the second and the third step, the mail is sent twice. SMTP cannot prevent that.
 *
 * Account mail has a job of its own besides, so that it does not wait while mail servers of organizations are slow.
 */
export function sendMailJobs(
  model: Unscoped<Mail>,
  run: (mail: Mail, slice: { signal: AbortSignal }) => Promise<Outcome>,
): Pick<Context, 'mailJob' | 'accountMailJob'> {
  const limits = { concurrency: 20, concurrencyPerOrganization: 5 }
  const job = (name: string, filter: object) => defineJob({ name, due: { model, filter }, ...limits, run })
  return {
    mailJob: job('mails', {}), // of every kind: no index serves `$ne`
    accountMailJob: job('account-mails', { kind: 'account' }),
  }
}

/** Sends one claimed mail, or returns when to retry. When the signal fires, it sends no text any more. */
export async function sendMail(
  context: Context,
  mail: Mail,
  control: Pick<SendControl, 'signal'> = {},
): Promise<Outcome> {
  if (mail.status === 'scheduled' && !(await begin(context, mail))) return 'done' // cancelled
  let outcome: Outcome | { reply: string }
  try {
    refuseExpired(mail)
    outcome =
      mail.kind === 'account'
        ? { reply: await deliverMail(context, mail, control) }
        : await deliverMessage(context, mail, control)
  } catch (thrown) {
    return recordFailure(context, mail, toDeliveryError(thrown))
  }
  return typeof outcome === 'object' ? recordSent(context, mail, outcome.reply) : outcome
}

/** Moves a scheduled mail on to queued; false if it was cancelled. */
async function begin({ store, collections }: Context, mail: Mail): Promise<boolean> {
  const at = new Date()
  const update = { $set: { status: 'queued' }, $push: { steps: { type: 'queued', at, detail: null } } }
  return store.transaction(async tx => {
    const scheduled = { ...claimed(mail), status: 'scheduled' }
    const { matchedCount } = await collections.of(mail.organization).mails.updateOne(scheduled, update, { tx })
    if (matchedCount === 1) await addEvents(tx, [mailEvent(mail, 'queued', at)])
    return matchedCount === 1
  })
}

/** Delivers a message; ends or delays one that may not go out now. */
async function deliverMessage(
  context: Context,
  mail: Mail,
  control: SendControl,
): Promise<Outcome | { reply: string }> {
  const options = { isCampaign: false, ms: HOLD_MS }
  const { handOvers, until, release } = await holdHandOvers(context, String(mail.organization), [mail], options)
  try {
    const { refusal, to } = handOvers[0]!
    if (refusal)
      return await finish(context, mail, refusal.reason === 'deleted' ? 'failed' : 'suppressed', refusal.error)
    if (emailKeyOf(to) !== emailKeyOf(mail.to)) await requireReach(context, mail, to)
    mail.to = to
    const { granted, waitMs } = await takeQuota(context.collections.of(mail.organization), context.config, 1)
    if (granted === 0) return waitMs
    const confirm = async () => {
      if (Date.now() >= until) await checkAgain(context, String(mail.organization), mail, { to, isCampaign: false })
    }
    return Date.now() < until ? { reply: await deliverMail(context, mail, { ...control, confirm }) } : 'again'
  } finally {
    void release()
  }
}

/** Requires that the organization of a message may mail another address than that which it was accepted for. */
async function requireReach({ requireMailReach }: Context, { organization }: Mail, to: string): Promise<void> {
  try {
    await requireMailReach(String(organization), to)
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'organization.unverified') throw error
    throw new DeliveryError('failed', error.message, { isAboutMail: true, cause: error })
  }
}

/** Marks a mail as sent, retrying until the database is available, so that it is not sent again. */
async function recordSent(context: Context, mail: Mail, reply: string): Promise<'done'> {
  return retry(() => finish(context, mail, 'sent', reply), {
    maxMs: RETRY_WRITE_MS,
    onRetry: err => context.logger.warn({ err, mail: String(mail._id) }, 'mail sent but not marked as sent, retrying'),
  })
}

async function recordFailure(context: Context, mail: Mail, failure: DeliveryError): Promise<Outcome> {
  const { kind, message } = failure
  const logFields = logFieldsOf(failure, mail.to)
  context.logger.info({ mail: String(mail._id), attempt: mail.attempts, ...logFields }, 'mail not sent')
  if (failure.isHeldBack) return 'again'
  if (kind === 'bounced') return retryDuplicate(() => finish(context, mail, kind, message, failure.isBadAddress))
  if (kind === 'failed') return finish(context, mail, kind, message)
  const failures = (mail.failures ?? mail.attempts - 1) + 1 // records of former releases count claims only
  if (failures >= context.config.MAIL_ATTEMPTS) return finish(context, mail, 'failed', message)
  const { mails } = context.collections.of(mail.organization)
  await mails.updateOne({ ...claimed(mail), ...notErasedSince(mail) }, { $set: { error: message, failures } })
  return waitMs(context, mail, failures)
}

async function deliverMail(context: Context, mail: Mail, control: SendControl): Promise<string> {
  const { organization, sender: senderId, messageId, to, subject, text, html, replyTo, headers } = mail
  const organizationId = String(organization)
  const sender = senderId && (await context.collections.of(organizationId).senders.findOne({ _id: senderId }))
  if (senderId && !sender) throw new DeliveryError('failed', 'the sender no longer exists')
  if (sender?.active === false) throw new DeliveryError('failed', 'the sender is not active')
  const date = mail.sendAt ?? mail.createdAt
  const content = {
    subject,
    text: text ?? (html === null ? '' : undefined),
    html: tracked(context.links, mail, html, mail.track),
    replyTo,
    headers: headers ?? {},
  }
  return deliver(context, organizationId, sender, { mail, messageId, date, to, ...content }, control)
}

function refuseExpired({ expiresAt }: Mail): void {
  if (expiresAt && expiresAt <= new Date()) throw new DeliveryError('failed', 'the code or link in it has expired')
}

/**
 * Finishes a mail once. A success counts even if another worker has claimed the mail since. A bounce suppresses the
 * address, or counts as a soft one, unless an account alone is mailed there. Of a recipient who was erased since the mail
 * was claimed, only the status is recorded.
 * @param detail reply of the server, or why the mail was not sent
 */
async function finish(
  context: Context,
  mail: Mail,
  status: EndStatus,
  detail: string,
  isBadAddress = false,
): Promise<'done'> {
  const { mails } = context.collections.of(mail.organization)
  const at = new Date()
  const isSent = status === 'sent'
  const filter = isSent ? { _id: mail._id, status: 'queued' } : claimed(mail)
  const end = {
    status,
    ...(isSent && { sentAt: at }),
    dueAt: null,
    finishedAt: at,
    text: null,
    html: null,
  }
  const isFirst = await context.store.transaction(async tx => {
    const isErased = (await erasedSince(mails, [mail], tx)).size > 0
    const named = isErased ? withoutRecipient(mail) : mail
    const reply = isErased ? null : detail
    const error = isSent ? null : reply
    const update = { $set: { ...end, to: named.to, error }, $push: { steps: { type: status, at, detail: reply } } }
    const { matchedCount } = await mails.updateOne(filter, update, { tx })
    if (matchedCount === 0) return false
    await addEvents(tx, [mailEvent(named, status, at, error ?? undefined)])
    if (status === 'bounced' && mail.kind !== 'account' && !isErased)
      await recordBounceIn(context, mail, { at, detail, isBadAddress }, tx)
    return true
  })
  if (isFirst) context.mailsEnded.inc({ outcome: status })
  return 'done'
}

type EndStatus = Exclude<PublishedStatus, 'queued'>

/** Filter for a mail that this worker has claimed. */
function claimed({ _id, attempts }: Mail) {
  return { _id, attempts, status: 'queued' }
}

/** Returns the time until the next attempt, at most until the expiry: the last claim then removes the text. */
function waitMs({ config }: Context, { expiresAt }: Mail, failures: number): number {
  const waitMs = Math.min(config.MAIL_RETRY_MS * 4 ** (failures - 1), MAX_WAIT_MS) * (0.9 + Math.random() * 0.2)
  return expiresAt ? Math.min(waitMs, Math.max(0, expiresAt.getTime() - Date.now())) : waitMs
}
