import { createHash } from 'node:crypto'
import { AppError, emailKeyOf } from '@rollcall/contract'
import type { ClientSession } from 'mongoose'
import type { Context } from '../context.ts'
import { countUse } from '../usage.ts'

const HOUR_SECONDS = 3600
const DAY_SECONDS = 24 * 3600

/** Counters of mail to recipients that users of an organization chose. */
const CHOSEN = 'organizations'
/** Purposes of mail requested without a credential; each has a quota of its own. */
const publicPurposes = new Set(['sign_in_code', 'password_reset'])
/** Purposes of notices about changes of the recipient's account. Nobody must be able to use them up beforehand. */
const noticePurposes = new Set(['email_changed', 'password_changed', 'second_factor_changed'])

/**
 * Counts a mail: per address and day over all organizations, and per organization and hour if its users chose the
 * recipient. Notices count per organization, address and day. In a transaction, it counts only if that commits.
 * @throws {AppError} quota.too_many_pending
 */
export async function countMail(
  { collections, config }: Pick<Context, 'collections' | 'config'>,
  { organizationId, to, purpose = '' }: { organizationId: string; to: string; purpose?: string | undefined },
  tx?: ClientSession,
): Promise<void> {
  const count = async (key: string, limit: number, seconds: number, what: string) => {
    const retryAfterSeconds = await countUse(collections.unscoped.usageWindows, `mail of ${key}`, {
      limit,
      seconds,
      tx,
    })
    if (retryAfterSeconds !== undefined)
      throw new AppError('quota.too_many_pending', { limit, what, retryAfterSeconds })
  }
  const bucket = bucketOf(purpose, organizationId)
  if (bucket === CHOSEN) {
    const perHour = config.MAIL_PER_ORGANIZATION_HOUR
    await count(organizationId, perHour, HOUR_SECONDS, 'mails per organization and hour')
  }
  const address = createHash('sha256').update(emailKeyOf(to)).digest('base64url')
  await count(`${bucket} to ${address}`, config.MAIL_PER_ADDRESS_DAY, DAY_SECONDS, 'mails per address and day')
}

/** Returns the name of the counters of an address that a mail counts in. */
function bucketOf(purpose: string, organizationId: string): string {
  if (publicPurposes.has(purpose)) return purpose
  return noticePurposes.has(purpose) ? `notices of ${organizationId}` : CHOSEN
}
