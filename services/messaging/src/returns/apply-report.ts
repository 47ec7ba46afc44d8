import { emailKeyOf } from '@rollcall/contract'
import { ERASED } from '@rollcall/service'
import { untilReleased } from '@rollcall/store'
import type { ClientSession } from 'mongoose'
import type { Context } from '../context.ts'
import type { Mail } from '../mail/mail.model.ts'
import { retryDuplicate, suppress } from '../suppressions/suppress.ts'
import type { BouncedMessage } from './bounce-address.ts'
import type { Report } from './read-report.ts'
import { recordIn } from './record-return.ts'
import { countSoftBounce, recordBounceIn } from './soft-bounces.ts'

/** A status that follows from a report. */
export type Reported = Exclude<Report['kind'], 'delayed'>

/**
 * Records what was reported of a message. Repeating it changes nothing. Ignores unknown messages.
 * @throws {AppError} service.unavailable while the message is being handed over
 */
export async function takeReport(
  context: Pick<Context, 'store' | 'collections' | 'addressHasher' | 'mailsReported'>,
  { organizationId, messageId }: BouncedMessage,
  report: Report,
): Promise<void> {
  const { store, collections, mailsReported } = context
  const tenant = collections.of(organizationId)
  const take = async (tx: ClientSession) => {
    const mail = await tenant.mails.findOne({ _id: messageId }, { tx })
    return mail ? { mail, outcome: await applyReport(context, mail, report, tx) } : undefined
  }
  const taken = await retryDuplicate(() => store.transaction(take))
  if (taken?.outcome) mailsReported.inc({ outcome: taken.outcome })
  // Mail to the address that is being handed over is waited for before the sender of the report is answered.
  if (taken && report.kind !== 'delivered') await untilReleased(tenant.holds, [emailKeyOf(taken.mail.to)])
}

/**
 * As `takeReport`, in a transaction that has read the message: its status with the event, and the suppression that
 * follows. A message that could not be delivered for now, or for another reason than its address, counts as a soft bounce.
 * Returns the status if it is the first report of it. Ignores messages to an erased person, whom reports name.
 */
export async function applyReport(
  context: Pick<Context, 'collections' | 'addressHasher'>,
  mail: Mail,
  { kind, detail, isBadAddress }: Report,
  tx: ClientSession,
): Promise<Reported | undefined> {
  const at = new Date()
  if (mail.kind === 'account' || mail.to === ERASED) return undefined
  if (kind === 'delayed') return void (await countSoftBounce(context, mail, { at, detail }, tx))
  const isFirst = await recordIn(context.collections.of(mail.organization), mail, { status: kind, at, detail }, tx)
  if (!isFirst) return undefined
  if (kind === 'bounced') await recordBounceIn(context, mail, { at, detail, isBadAddress }, tx)
  const complaint = { email: mail.to, kind: 'complaint', reason: detail, message: String(mail._id), at } as const
  if (kind === 'complained') await suppress(context, mail.organization, complaint, tx)
  return kind
}
