import type { TakeRecipientsRequest, TakeRecipientsResponse } from '@rollcall/protos/gen/audience-v1.ts'
import type { Call } from '@rollcall/rpc'
import { contactPositions } from '../contacts/contact.model.ts'
import type { Context } from '../context.ts'
import { filterOfSelection } from './selection.ts'

const MAX_LIMIT = 1000

/**
 * Returns the next contacts of a selection, by position. A page follows an index by position, so that the last page of a
 * million costs what the first one does.
 */
export async function takeRecipients(
  context: Context,
  { selection, reachableOnly, afterPosition, untilPosition, limit }: TakeRecipientsRequest,
  { caller }: Call,
): Promise<TakeRecipientsResponse> {
  const tenant = context.collections.of(caller.organizationId)
  const last = (await contactPositions(context, caller.organizationId).read()).last
  const until = untilPosition ?? last
  const size = Math.min(Math.max(limit, 1), MAX_LIMIT)
  const filter = {
    position: { $gt: afterPosition, $lte: until },
    ...(reachableOnly && { blocked: false, unsubscribed: false }),
    ...(selection && { $and: [await filterOfSelection(tenant, selection)] }),
  }
  const found = await tenant.contacts.find(filter, {
    sort: { position: 1 },
    limit: size,
    projection: { email: 1, position: 1 },
  })
  return {
    recipients: found.map(({ _id, email }) => ({ contactId: String(_id), email })),
    lastPosition: found.at(-1)?.position ?? until,
    untilPosition: last,
    done: found.length < size,
  }
}
