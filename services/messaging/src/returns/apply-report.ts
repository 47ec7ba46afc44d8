import { ERASED } from '@rollcall/service'
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
  const take = async (tx: ClientSession) => {
    const mail = await collections.of(organizationId).mails.findOne({ _id: messageId }, { tx })
    return mail ? applyReport(context, mail, report, tx) : undefined
  }
  const outcome = await retryDuplicate(() => store.transaction(take))
  if (outcome) mailsReported.inc({ outcome })
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
