import { AppError } from '@rollcall/contract'
import { ERASED } from '@rollcall/service'
import { addEvents } from '@rollcall/store'
import type { ClientSession } from 'mongoose'
import type { Tenant } from '../collections.ts'
import type { Mail, MailStatus } from '../mail/mail.model.ts'
import { mailEvent } from '../mail/mail-events.ts'
import { forgetSoftBounces } from './soft-bounces.ts'

/** What comes back of a message that was handed over. */
export type Return = {
  status: 'delivered' | 'opened' | 'clicked' | 'bounced' | 'complained'
  at: Date
  /** The reply of the receiving server, or the URL that was opened. */
  detail?: string
}

/** Statuses of a message that is out; it does not leave the others. */
const out: readonly MailStatus[] = ['sent', 'delivered', 'opened', 'clicked', 'bounced', 'complained']

/** Statuses that show that a message has arrived. */
const arrived: readonly MailStatus[] = ['delivered', 'opened', 'clicked']

/**
 * Records what came back of a message, in a transaction that has read it: its status, which only moves on, and the event,
 * once for each kind. Returns whether it is the first of its kind. A failed mail of a campaign was handed over all the
 * same if something comes back of it: the answer of its server was lost. Records nothing of a message to an erased person,
 * whom a URL can name.
 * @throws {AppError} service.unavailable while the message is being handed over: it is retried
 */
export async function recordIn(
  tenant: Tenant,
  mail: Mail,
  { status, at, detail }: Return,
  tx: ClientSession,
): Promise<boolean> {
  const { mails, mailings } = tenant
  if (mail.kind === 'account' || mail.to === ERASED || mail.steps?.some(({ type }) => type === status)) return false
  if (mail.status === 'queued')
    throw new AppError('service.unavailable', {}, { cause: new Error('the message is being handed over') })
  const wasLost = mail.status === 'failed' && mail.campaign !== undefined
  const isFurther = wasLost || (out.includes(mail.status) && out.indexOf(status) > out.indexOf(mail.status))
  const isFailure = status === 'bounced' || status === 'complained'
  const sentAt = mail.finishedAt ?? at
  const set = {
    ...(wasLost && { sentAt, error: null }),
    ...(isFurther && { status }),
    ...(isFailure && { error: detail ?? status }),
  }
  const step = { type: status, at, detail: detail ?? null }
  const steps = wasLost ? [{ type: 'sent', at: sentAt, detail: null }, step] : [step]
  const first = { _id: mail._id, 'steps.type': { $ne: status } }
  const change = { $set: set, $push: { steps: { $each: steps } } }
  const { matchedCount } = await mails.updateOne(first, change, { tx, timestamps: isFurther })
  if (matchedCount === 0) return false
  if (arrived.includes(status)) await forgetSoftBounces(tenant, mail, tx)
  const counted = { [`counts.${status}`]: 1, ...(wasLost && { 'counts.failed': -1, 'counts.sent': 1 }) }
  if (mail.campaign) await mailings.updateOne({ _id: mail.campaign }, { $inc: counted }, { tx })
  const [error, url] = isFailure ? [detail] : status === 'clicked' ? [undefined, detail] : []
  await addEvents(tx, [mailEvent(mail, status, at, error, url)])
  return true
}
