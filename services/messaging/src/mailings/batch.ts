import type { Context } from '../context.ts'
import { holdHandOvers } from '../mail/hand-over.ts'
import type { Mail } from '../mail/mail.model.ts'
import { takeQuota } from '../mail/sending-quota.ts'
import type { NextDue } from './due-mails.ts'
import type { Candidate } from './hand-over-one.ts'
import type { Mailing } from './mailing.model.ts'
import { paceOf } from './pace.ts'

/** The next recipients of a mailing. */
export type Batch = {
  /** Those that may get the mail now, as many as rate and quotas allow. */
  chosen: Candidate[]
  /** Those that may not get it. */
  refused: Candidate[]
  /** Until when hand-overs may begin, in milliseconds since 1970. */
  until: number
  /** Call it when all that began have been handed over. */
  release(): Promise<void>
}

/**
 * Returns the next batch of at most `size` recipients, or how long to wait for it.
 * @param options `taken`: those that are at hand already. `freshMs`: how long hand-overs may begin after the check
 */
export async function openBatch(
  context: Context,
  mailing: Mailing,
  { nextDue, size, taken, freshMs }: { nextDue: NextDue; size: number; taken: readonly Mail['_id'][]; freshMs: number },
): Promise<Batch | { waitMs: number }> {
  const now = Date.now()
  const tenant = context.collections.of(mailing.organization)
  const pace = mailing.ratePerMinute === null ? null : paceOf(mailing.ratePerMinute, mailing.nextAt, now)
  if (pace?.count === 0) return { waitMs: pace.waitMs }
  const limit = Math.min(size, pace?.count ?? size)
  const mails = await nextDue(limit, taken)
  if (mails.length === 0) return { waitMs: Number.POSITIVE_INFINITY }
  const options = { isCampaign: true, ms: freshMs }
  const { handOvers, until, release } = await holdHandOvers(context, String(mailing.organization), mails, options)
  const candidates = mails.map((mail, index) => ({ mail, handOver: handOvers[index]! }))
  const mayGo = candidates.filter(({ handOver }) => handOver.refusal === null)
  const refused = candidates.filter(({ handOver }) => handOver.refusal !== null)
  const { granted, waitMs } =
    mayGo.length === 0 ? { granted: 0, waitMs: 0 } : await takeQuota(tenant, context.config, mayGo.length)
  if (granted === 0 && mayGo.length > 0 && refused.length === 0) {
    await release()
    return { waitMs }
  }
  if (pace && granted > 0) {
    const next = { $set: { nextAt: pace.nextAt(granted) } }
    await tenant.mailings.updateOne({ _id: mailing._id }, next, { timestamps: false })
  }
  return { chosen: mayGo.slice(0, granted), refused, until, release }
}
