import type { Types } from 'mongoose'
import type { Tenant } from '../collections.ts'
import { NO_REPLY, type Outcome, withoutReply } from './attempt.ts'
import type { Delivery } from './delivery.model.ts'

/**
 * Returns what to store of an outcome: without the answer if a person was erased from the event since it was sent. Without
 * this, a crash before `blankErasedReply` would keep the answer.
 */
export async function withoutErasedReply(tenant: Tenant, delivery: Delivery, outcome: Outcome): Promise<Outcome> {
  if (!(await isErased(tenant, delivery, outcome))) return outcome
  return { ...outcome, ...NO_REPLY, error: withoutReply(outcome.error) }
}

/**
 * Blanks the stored answer of an attempt if a person was erased from the event since it was sent. An erasure blanks the
 * event first, then the stored answers. This reads the event after the answer is stored, so one of the two sees the other.
 */
export async function blankErasedReply(
  tenant: Tenant,
  delivery: Delivery,
  attempt: Types.ObjectId,
  outcome: Outcome,
): Promise<void> {
  if (!(await isErased(tenant, delivery, outcome))) return
  const { attempts, deliveries } = tenant
  const { error } = outcome
  const blank = withoutReply(error)
  await attempts.updateOne({ _id: attempt }, { $set: { ...NO_REPLY, error: blank } })
  const isOwn = { _id: delivery._id, lastError: error }
  await deliveries.updateOne(isOwn, { $set: { lastError: blank } }, { timestamps: false })
}

/** Whether a person was erased from the event since it was sent, or the event is gone. */
async function isErased({ events }: Tenant, { event }: Delivery, { erasedBefore }: Outcome): Promise<boolean> {
  const logged = await events.findOne({ _id: event.id }, { projection: { erasedFor: 1 } })
  return logged === null || (logged.erasedFor?.length ?? 0) > erasedBefore
}
