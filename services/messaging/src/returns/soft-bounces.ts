import { emailKeyOf } from '@rollcall/contract'
import type { ClientSession } from 'mongoose'
import type { Tenant } from '../collections.ts'
import type { Context } from '../context.ts'
import type { Mail } from '../mail/mail.model.ts'
import { suppress } from '../suppressions/suppress.ts'

type Suppressing = Pick<Context, 'collections' | 'addressHasher'>

const MAX_SOFT_BOUNCES = 5
const WINDOW_DAYS = 14
const WINDOW_MS = WINDOW_DAYS * 24 * 3_600_000

/** A message that its address did not take, and whether it never will. */
export type Bounce = { at: Date; detail: string; isBadAddress: boolean }

/** Suppresses the address of a message if it was rejected itself; otherwise counts a soft bounce. */
export async function recordBounceIn(
  context: Suppressing,
  mail: Mail,
  { isBadAddress, ...bounce }: Bounce,
  tx: ClientSession,
): Promise<void> {
  if (!isBadAddress) return countSoftBounce(context, mail, bounce, tx)
  const cause = { email: mail.to, kind: 'hard_bounce', reason: bounce.detail, message: String(mail._id) } as const
  await suppress(context, mail.organization, { ...cause, at: bounce.at }, tx)
}

/** Counts that an address did not take a message for now. Suppresses it after five messages in 14 days. */
export async function countSoftBounce(
  context: Suppressing,
  { _id, organization, to }: Mail,
  { at, detail }: { at: Date; detail: string },
  tx: ClientSession,
): Promise<void> {
  const { softBounces } = context.collections.of(organization)
  const emailKey = emailKeyOf(to)
  const message = String(_id)
  const known = await softBounces.findOne({ emailKey }, { tx })
  const earlier = (known?.messages ?? []).filter(each => at.getTime() - each.at.getTime() < WINDOW_MS)
  if (earlier.some(each => each.message === message)) return // a retry of the same message
  const messages = [...earlier, { message, at }]
  if (messages.length < MAX_SOFT_BOUNCES) {
    const expiresAt = new Date(at.getTime() + WINDOW_MS)
    await softBounces.updateOne({ emailKey }, { $set: { messages, expiresAt } }, { tx, upsert: true })
    return
  }
  const reason = `${MAX_SOFT_BOUNCES} temporary failures in ${WINDOW_DAYS} days, the last: ${detail}`
  await suppress(context, organization, { email: to, kind: 'hard_bounce', reason, message, at }, tx)
  await softBounces.deleteOne({ emailKey }, { tx })
}

/** Forgets the temporary failures of an address that has got a message. */
export async function forgetSoftBounces({ softBounces }: Tenant, { to }: Mail, tx: ClientSession): Promise<void> {
  await softBounces.deleteOne({ emailKey: emailKeyOf(to) }, { tx })
}
