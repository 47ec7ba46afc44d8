import { AppError } from '@rollcall/contract'
import { addEvents } from '@rollcall/store'
import type { ClientSession } from 'mongoose'
import type { Tenant } from '../collections.ts'
import type { Context } from '../context.ts'
import type { Mail, MailStatus } from '../mail/mail.model.ts'
import { mailEvent } from '../mail/mail-events.ts'
import { retryDuplicate, suppress } from '../suppressions/suppress.ts'
import type { SuppressionKind } from '../suppressions/suppression.model.ts'

/** What comes back of a message that was handed over. */
export type Return = {
  status: 'delivered' | 'opened' | 'clicked' | 'bounced' | 'complained'
  at: Date
  /** The reply of the receiving server, or the URL that was opened. */
  detail?: string
  /** Why no more mail may go to the address. */
  suppression?: SuppressionKind
}

/** Statuses of a message that is out; it does not leave the others. */
const out: readonly MailStatus[] = ['sent', 'delivered', 'opened', 'clicked', 'bounced', 'complained']

/**
 * Records what came back of a message: its status, which only moves on, and the event, once for each kind. In the same
 * transaction it suppresses the address, if that follows. Repeating it changes nothing. Ignores unknown messages.
 */
export function recordReturn(
  context: Context,
  organizationId: string,
  messageId: string,
  given: Return,
): Promise<void> {
  const tenant = context.collections.of(organizationId)
  const record = async (tx: ClientSession) => {
    const mail = await tenant.mails.findOne({ _id: messageId }, { tx })
    if (mail) await recordIn(tenant, mail, given, tx)
  }
  return retryDuplicate(() => context.store.transaction(record))
}

/**
 * As `recordReturn`, in a given transaction that has read the message. Returns whether it is the first of its kind.
 * @throws {AppError} service.unavailable while the message is being handed over: it is retried
 */
export async function recordIn(
  { mails, mailings, suppressions }: Tenant,
  mail: Mail,
  { status, at, detail, suppression }: Return,
  tx: ClientSession,
): Promise<boolean> {
  if (mail.kind === 'account' || mail.steps?.some(({ type }) => type === status)) return false
  if (mail.status === 'queued')
    throw new AppError('service.unavailable', {}, { cause: new Error('the message is being handed over') })
  const isFurther = out.includes(mail.status) && out.indexOf(status) > out.indexOf(mail.status)
  const isFailure = status === 'bounced' || status === 'complained'
  const set = { ...(isFurther && { status }), ...(isFailure && { error: detail ?? status }) }
  const step = { type: status, at, detail: detail ?? null }
  const first = { _id: mail._id, 'steps.type': { $ne: status } }
  const { matchedCount } = await mails.updateOne(first, { $set: set, $push: { steps: step } }, { tx })
  if (matchedCount === 0) return false
  if (mail.campaign) await mailings.updateOne({ _id: mail.campaign }, { $inc: { [`counts.${status}`]: 1 } }, { tx })
  if (suppression) {
    const cause = { email: mail.to, kind: suppression, reason: detail ?? '', message: String(mail._id), at }
    await suppress(suppressions, cause, tx)
  }
  const [error, url] = isFailure ? [detail] : status === 'clicked' ? [undefined, detail] : []
  await addEvents(tx, [mailEvent(mail, status, at, error, url)])
  return true
}
