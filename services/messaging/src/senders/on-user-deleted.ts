import type { Subscription } from '@rollcall/bus'
import { objectId } from '@rollcall/store'
import type { ClientSession } from 'mongoose'
import type { Context } from '../context.ts'

/** Removes a deleted user from senders. Those that the user owned have no owner until they are transferred. */
export function onUserDeleted({ collections }: Pick<Context, 'collections'>): Subscription<ClientSession> {
  return {
    name: 'messaging.on-user-deleted',
    on: {
      'user.deleted': async (_data, { event, tx }) => {
        const { senders } = collections.of(event.organization)
        const user = objectId(event.subject)
        await senders.updateMany({ owner: user }, { $set: { owner: null } }, { tx })
        await senders.updateMany({ sharedWith: user }, { $pull: { sharedWith: user } }, { tx })
      },
    },
  }
}
