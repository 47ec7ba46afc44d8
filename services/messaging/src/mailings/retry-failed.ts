import { AppError } from '@rollcall/contract'
import { objectId } from '@rollcall/store'
import type { Context } from '../context.ts'

const AT_ONCE = 1000

/**
 * Lets the recipients wait again whose mail failed; not those that bounced. Returns how many they are. A repetition after
 * a failure in between continues with the rest.
 */
export async function retryFailed({ store, collections, mailingsJob }: Context, organizationId: string, id: string) {
  const { mails, mailings } = collections.of(organizationId)
  const mailing = await mailings.get(id, 'mailing')
  if (mailing.state === 'cancelled') throw new AppError('mailing.cancelled')
  let count = 0
  for (;;) {
    const moved = await store.transaction(async tx => {
      const failed = { campaign: objectId(id), status: 'failed' }
      const found = await mails.find(failed, { tx, limit: AT_ONCE, projection: { _id: 1 } })
      if (found.length === 0) return 0
      const again = { status: 'waiting', nextTryAt: new Date(0), failures: 0, error: null, finishedAt: null }
      const ids = found.map(({ _id }) => _id)
      await mails.updateMany({ ...failed, _id: { $in: ids } }, { $set: again }, { tx })
      const counted = { 'counts.failed': -ids.length, 'counts.waiting': ids.length }
      await mailings.updateOne({ _id: mailing._id }, { $inc: counted }, { tx })
      return ids.length
    })
    count += moved
    if (moved < AT_ONCE) break
  }
  if (count > 0) mailingsJob.wake(mailing)
  return count
}
