import { emailKeyOf } from '@rollcall/contract'
import type { CheckedRecipient } from '@rollcall/protos/gen/audience-v1.ts'
import { placeHold, releaseHold } from '@rollcall/store'
import type { Context } from '../context.ts'
import { suppressionsOf } from '../suppressions/suppress.ts'
import type { Suppression } from '../suppressions/suppression.model.ts'
import type { Mail } from './mail.model.ts'

/** Why a message does not go out. blocked, unsubscribed: the contact; address: the address; deleted: the contact is gone. */
export type Refusal = { reason: 'blocked' | 'unsubscribed' | 'address' | 'deleted'; error: string }

/** Holds last longer than hand-overs may begin, because a hand-over that has begun takes a moment to reach the server. */
export const HOLD_MARGIN_MS = 2000

/** What is known of a recipient at the hand-over. */
export type HandOver = {
  /** The current address of the contact. */
  to: string
  refusal: Refusal | null
  /** What templates show of the contact. */
  variables: CheckedRecipient['variables']
}

/** Checked recipients, in the order of their messages. */
export type HeldHandOvers = {
  handOvers: HandOver[]
  /** Until when hand-overs may begin, in milliseconds since 1970. */
  until: number
  /** Ends the hold. Never rejects: it ends by itself, too. */
  release(): Promise<void>
}

/**
 * Returns whether messages of one organization may go out now. Holds contacts and addresses before it looks, for so many
 * milliseconds: a change that would stop a message is answered only when the message is out, so that none goes out after
 * that answer. Mail of the installation is never refused.
 */
export async function holdHandOvers(
  context: Pick<Context, 'holdRecipients' | 'collections' | 'addressHasher' | 'logger'>,
  organizationId: string,
  mails: readonly Pick<Mail, 'contact' | 'to' | 'confirms'>[],
  options: { isCampaign: boolean; ms: number },
): Promise<HeldHandOvers> {
  const { holdRecipients, collections, logger } = context
  const until = Date.now() + options.ms
  const asked = mails.map(({ contact, to }) => ({ email: to, ...(contact !== null && { contactId: contact }) }))
  const ms = options.ms + HOLD_MARGIN_MS
  const { checked, release } = await holdRecipients(organizationId, asked, { ...options, ms })
  const { holds } = collections.of(organizationId)
  const keys = checked.map(({ email }) => emailKeyOf(email))
  const hold = await placeHold(holds, keys, ms)
  const suppressed = await suppressionsOf(context, organizationId, keys)
  const handOvers = checked.map(({ outcome, email, variables }, index) => ({
    to: email,
    refusal: ofContact(outcome) ?? ofAddress(suppressed.get(keys[index]!), mails[index]!),
    variables,
  }))
  const releaseBoth = async () => {
    await Promise.all([release(), releaseHold(holds, hold)]).catch(err => logger.debug({ err }, 'hold not released'))
  }
  return { handOvers, until, release: releaseBoth }
}

/**
 * Checks a message again whose text goes out only now, when its recipient may no longer be held. Holds the recipient for the
 * moment that the text takes to reach the server. Rejects if the message may not go to this address any more.
 */
export async function checkAgain(
  context: Parameters<typeof holdHandOvers>[0],
  organizationId: string,
  mail: Parameters<typeof holdHandOvers>[2][number],
  { to, isCampaign }: { to: string; isCampaign: boolean },
): Promise<void> {
  const { handOvers } = await holdHandOvers(context, organizationId, [mail], { isCampaign, ms: 0 })
  const { refusal, to: address } = handOvers[0]!
  if (refusal) throw new Error(refusal.error)
  if (emailKeyOf(address) !== emailKeyOf(to)) throw new Error('the contact has another address')
}

function ofContact(outcome: CheckedRecipient['outcome']): Refusal | null {
  switch (outcome) {
    case 'blocked':
      return { reason: 'blocked', error: 'the contact is blocked' }
    case 'unsubscribed':
      return { reason: 'unsubscribed', error: 'the contact has unsubscribed' }
    case 'deleted':
      return { reason: 'deleted', error: 'the contact no longer exists' }
    default:
      return null
  }
}

function ofAddress(suppression: Suppression | undefined, { confirms }: Pick<Mail, 'confirms'>): Refusal | null {
  if (!suppression || (confirms && suppression.kind === 'complaint')) return null
  const { kind, reason } = suppression
  return { reason: 'address', error: `the address is suppressed (${kind})${reason && `: ${reason}`}` }
}
