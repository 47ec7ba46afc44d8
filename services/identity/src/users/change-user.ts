import { type EventType, updated } from '@rollcall/contract'
import type { Updated } from '@rollcall/protos/gen/types.ts'
import type { Caller } from '@rollcall/rpc'
import { changedFields } from '@rollcall/store'
import type { ClientSession } from 'mongoose'
import type { Context } from '../context.ts'
import { type Details, publish } from '../events.ts'
import { presentUser, type User } from './user.model.ts'

/** What a user is to be, and what to tell of it: unless said otherwise, that these fields were updated. */
export type UserChange = { set: Partial<User>; event?: UserEvent }

type UserEvent = { [T in Extract<EventType, `user.${string}`>]: { type: T; data: Details<T> } }[Extract<
  EventType,
  `user.${string}`
>]

type Options = {
  /** Whether the change alters what the user's credentials resolve to: then the very next request meets it. */
  atOnce: boolean
  /** Decides on the change, within the transaction; what stays as it is is no change. */
  decide(user: User, tx: ClientSession): UserChange | Promise<UserChange>
}

/** Changes a user, with its event and its entry in the audit trail, in one transaction. */
export async function changeUser(context: Context, id: string, caller: Caller, options: Options): Promise<Updated> {
  const write = (tx: ClientSession) => changeWithin(context, id, caller, options.decide, tx)
  const { organizationId } = caller
  if (options.atOnce) {
    await context.collections.of(organizationId).users.get(id, 'user')
    await context.credentials.change({ organizationId }, timeoutMs => context.store.transaction(write, { timeoutMs }))
  } else await context.store.transaction(write)
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
  const { type, data } = event ?? { type: 'user.updated', data: { user: presentUser(user!), changed } }
  await publish(context, caller, type, { organization: before.organization, subject: before._id, data }, tx)
}
