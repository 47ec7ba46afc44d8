import { type EventType, updated } from '@rollcall/contract'
import type { Updated } from '@rollcall/protos/gen/types.ts'
import type { Caller } from '@rollcall/rpc'
import { changedFields, changesBetween, type TransactionOptions } from '@rollcall/store'
import type { ClientSession } from 'mongoose'
import type { Context } from '../context.ts'
import { type Details, publish } from '../events.ts'
import { presentUser, type User } from './user.model.ts'

/** New values of a user, and the event to publish; default: an update of these fields. */
export type UserChange = { set: Partial<User>; event?: UserEvent }

type UserEvent = { [T in Extract<EventType, `user.${string}`>]: { type: T; data: Details<T> } }[Extract<
  EventType,
  `user.${string}`
>]

type Options = Pick<TransactionOptions, 'queue'> & {
  /** Whether the change affects the user's credentials: then their cache entries are invalidated. */
  atOnce: boolean
  /** Returns the change, within the transaction; equal values are ignored. */
  decide(user: User, tx: ClientSession): UserChange | Promise<UserChange>
}

/** Changes a user, publishes the event and writes the audit trail, in one transaction. */
export async function changeUser(context: Context, id: string, caller: Caller, options: Options): Promise<Updated> {
  const write = (tx: ClientSession) => changeWithin(context, id, caller, options.decide, tx)
  const { organizationId } = caller
  const { atOnce, decide: _, ...queue } = options
  if (atOnce) {
    await context.collections.of(organizationId).users.get(id, 'user')
    await context.credentials.change({ organizationId }, timeoutMs =>
      context.store.transaction(write, { timeoutMs, ...queue }),
    )
  } else await context.store.transaction(write, queue)
  return updated()
}

async function changeWithin(
  context: Context,
  id: string,
  caller: Caller,
  decide: Options['decide'],
  tx: ClientSession,
): Promise<void> {
  const { users } = context.collections.of(caller.organizationId)
  const before = await users.get(id, 'user', { tx })
  const { set, event } = await decide(before, tx)
  const changed = changedFields(before, set)
  if (changed.length === 0) return
  const user = await users.findOneAndUpdate({ _id: before._id }, { $set: set }, { tx })
  const { type, data } = event ?? { type: 'user.updated', data: updatedData(before, user!, changed) }
  await publish(context, caller, type, { organization: before.organization, subject: before._id, data }, tx)
}

/** Returns the data of the event of an updated user. */
export function updatedData(before: User, after: User, changed: string[]) {
  const user = presentUser(after)
  return { user, changed, changes: changesBetween(changed, presentUser(before), user) }
}
