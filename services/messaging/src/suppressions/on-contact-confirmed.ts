import type { Subscription } from '@rollcall/bus'
import { emailKeyOf } from '@rollcall/contract'
import type { ClientSession } from 'mongoose'
import type { Context } from '../context.ts'
import { liftSuppressionIn } from './suppress.ts'

const FORM = { kind: 'system', id: null, name: 'form' } as const

/**
 * Takes back the complaint of a person who has confirmed to subscribe again, unless it followed the confirmation. An
 * address that bounced stays unreachable.
 */
export function onContactConfirmed({ collections }: Pick<Context, 'collections'>): Subscription<ClientSession> {
  return {
    name: 'messaging.on-contact-confirmed',
    on: {
      'contact.confirmed': async ({ email, at }, { event, tx }) => {
        const { suppressions } = collections.of(event.organization)
        const complaint = { emailKey: emailKeyOf(email), kind: 'complaint', lastAt: { $lte: new Date(at) } }
        await liftSuppressionIn(suppressions, complaint, FORM, tx)
      },
    },
  }
}
