import type { Subscription } from '@rollcall/bus'
import type { ClientSession } from 'mongoose'
import type { Context } from '../context.ts'
import { liftSuppressionIn, ofAddress } from './suppress.ts'

const FORM = { kind: 'system', id: null, name: 'form' } as const

/**
 * Takes back the complaint of a person who has confirmed to subscribe again, unless it followed the confirmation. An
 * address that bounced stays unreachable.
 */
export function onContactConfirmed(
  context: Pick<Context, 'collections' | 'addressHasher'>,
): Subscription<ClientSession> {
  return {
    name: 'messaging.on-contact-confirmed',
    on: {
      'contact.confirmed': async ({ email, at }, { event, tx }) => {
        const { suppressions } = context.collections.of(event.organization)
        const complaint = { ...ofAddress(context, email), kind: 'complaint', lastAt: { $lte: new Date(at) } }
        await liftSuppressionIn(suppressions, complaint, FORM, tx)
      },
    },
  }
}
