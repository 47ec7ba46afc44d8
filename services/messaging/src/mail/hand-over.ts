import { emailKeyOf } from '@rollcall/contract'
import type { CheckedRecipient } from '@rollcall/protos/gen/audience-v1.ts'
import type { Context } from '../context.ts'
import { suppressionsOf } from '../suppressions/suppress.ts'
import type { Suppression } from '../suppressions/suppression.model.ts'
import type { Mail } from './mail.model.ts'

/** Why a message does not go out. blocked, unsubscribed: the contact; address: the address; deleted: the contact is gone. */
export type Refusal = { reason: 'blocked' | 'unsubscribed' | 'address' | 'deleted'; error: string }

/** What is known of a recipient at the hand-over. */
export type HandOver = {
  /** The current address of the contact. */
  to: string
  refusal: Refusal | null
  /** What templates show of the contact. */
  variables: CheckedRecipient['variables']
}

/**
 * Returns whether messages of one organization may go out now, in their order. Call it just before the hand-over: a change
 * made before it counts. Mail of the installation is never refused.
 */
export async function checkHandOver(
  context: Pick<Context, 'checkRecipients' | 'collections'>,
  organizationId: string,
  mails: readonly Pick<Mail, 'contact' | 'to'>[],
  isCampaign: boolean,
): Promise<HandOver[]> {
  const asked = mails.map(({ contact, to }) => ({ email: to, ...(contact !== null && { contactId: contact }) }))
  const checked = await context.checkRecipients(organizationId, asked, isCampaign)
  const { suppressions } = context.collections.of(organizationId)
  const addresses = checked.map(({ email }) => email)
  const suppressed = await suppressionsOf(suppressions, addresses)
  return checked.map(({ outcome, email, variables }) => ({
    to: email,
    refusal: ofContact(outcome) ?? ofAddress(suppressed.get(emailKeyOf(email))),
    variables,
  }))
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

function ofAddress(suppression: Suppression | undefined): Refusal | null {
  if (!suppression) return null
  const { kind, reason } = suppression
  return { reason: 'address', error: `the address is suppressed (${kind})${reason && `: ${reason}`}` }
}
