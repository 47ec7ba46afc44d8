import type { Handle } from '@rollcall/bus'
import { consumeOnce, objectId } from '@rollcall/store'
import type { Context } from '../context.ts'

const consumer = 'messaging.on-user-deleted'

/** Senders of an account that is gone have no owner until they are transferred, and are no longer shared with it. */
export function onUserDeleted(context: Pick<Context, 'store' | 'of'>): Handle {
  return async event => {
    if (event.type !== 'user.deleted') return
    const { senders } = context.of({ organizationId: event.organization })
    const user = objectId(event.subject)
    await consumeOnce(context.store, consumer, event, async session => {
      await senders.updateMany({ owner: user }, { $set: { owner: null } }, { session })
      await senders.updateMany({ sharedWith: user }, { $pull: { sharedWith: user } }, { session })
    })
  }
}
