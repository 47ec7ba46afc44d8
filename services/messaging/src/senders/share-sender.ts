import { AppError } from '@rollcall/contract'
import type { ListOfRequest } from '@rollcall/protos/gen/types.ts'
import type { Caller } from '@rollcall/rpc'
import { objectId, runList } from '@rollcall/store'
import type { Context, DirectoryUser } from '../context.ts'
import { changeSender } from './change-sender.ts'
import { senderFor } from './rights.ts'

/** Shares a sender with more users, who can then see it and send from it. */
export async function shareSender(context: Context, id: string, userIds: string[], caller: Caller): Promise<void> {
  await senderFor(context, 'share', id, caller)
  await requireUsers(context, caller, userIds, index => `userIds.${index}`)
  await changeSender(context, 'share', { id, caller }, ({ owner }) => {
    const others = userIds.map(userId => objectId(userId)).filter(userId => !userId.equals(owner))
    return { $addToSet: { sharedWith: { $each: others } } }
  })
}

/** Stops sharing a sender with users. Ignores users that it is not shared with. */
export async function unshareSender(context: Context, id: string, userIds: string[], caller: Caller): Promise<void> {
  const users = userIds.map(userId => objectId(userId))
  await changeSender(context, 'unshare', { id, caller }, () => ({ $pull: { sharedWith: { $in: users } } }))
}

/** Transfers a sender to another user. Its creator does not change. */
export async function transferSender(context: Context, id: string, userId: string, caller: Caller): Promise<void> {
  await senderFor(context, 'transfer', id, caller)
  await requireUsers(context, caller, [userId], () => 'userId')
  const owner = objectId(userId)
  await changeSender(context, 'transfer', { id, caller }, () => ({ $set: { owner }, $pull: { sharedWith: owner } }))
}

/** Lists the users that a sender is shared with, sorted by name. */
export async function listSharedUsers(context: Context, { id, list }: ListOfRequest, caller: Caller) {
  const { _id, sharedWith } = await senderFor(context, 'listShared', id, caller)
  const users = await context.findUsers(caller.organizationId, sharedWith.map(String))
  const shown = users.map(({ id, name, email }) => ({ _id: objectId(id), name, email }))
  return runList({
    scope: context.collections.of(caller.organizationId).senders,
    base: { _id },
    // The users come from identity. The pipeline contains them, so that the database can filter and sort them.
    stages: [{ $project: { user: { $literal: shown } } }, { $unwind: '$user' }, { $replaceRoot: { newRoot: '$user' } }],
    fields: { name: 'string', email: 'string' },
    defaultSort: { name: 1 },
    query: list ?? {},
  })
}

/** @throws {AppError} user.unknown at the first id that is not a user of the organization */
async function requireUsers(
  { findUsers }: Context,
  { organizationId }: Caller,
  userIds: string[],
  pathOf: (index: number) => string,
): Promise<void> {
  const found = new Set((await findUsers(organizationId, userIds)).map(({ id }: DirectoryUser) => id))
  const unknown = userIds.findIndex(userId => !found.has(userId.toLowerCase()))
  if (unknown >= 0) throw new AppError('user.unknown', { path: pathOf(unknown) })
}
