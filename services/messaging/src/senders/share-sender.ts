import { AppError } from '@rollcall/contract'
import type { ListOfRequest } from '@rollcall/protos/gen/types.ts'
import type { Caller } from '@rollcall/rpc'
import { objectId, runList } from '@rollcall/store'
import type { Context, DirectoryUser } from '../context.ts'
import { changeSender } from './change-sender.ts'
import { senderFor } from './rights.ts'

/** Lets more users see a sender and send from it. */
export async function shareSender(context: Context, id: string, userIds: string[], caller: Caller): Promise<void> {
  await senderFor(context, 'share', id, caller)
  await requireUsers(context, caller, userIds, index => `userIds.${index}`)
  await changeSender(context, 'share', { id, caller }, ({ owner }) => {
    const others = userIds.map(userId => objectId(userId)).filter(userId => !userId.equals(owner))
    return { $addToSet: { sharedWith: { $each: others } } }
  })
}

/** Takes users off a sender; whoever it is not shared with stays so. */
export async function unshareSender(context: Context, id: string, userIds: string[], caller: Caller): Promise<void> {
  const users = userIds.map(userId => objectId(userId))
  await changeSender(context, 'unshare', { id, caller }, () => ({ $pull: { sharedWith: { $in: users } } }))
}

/** Gives a sender to another user. Its creator stays who it is. */
export async function transferSender(context: Context, id: string, userId: string, caller: Caller): Promise<void> {
  await senderFor(context, 'transfer', id, caller)
  await requireUsers(context, caller, [userId], () => 'userId')
  const owner = objectId(userId)
  await changeSender(context, 'transfer', { id, caller }, () => ({ $set: { owner }, $pull: { sharedWith: owner } }))
}

/** The users that a sender is shared with, by name. */
export async function listSharedUsers(context: Context, { id, list }: ListOfRequest, caller: Caller) {
  const { _id, sharedWith } = await senderFor(context, 'listShared', id, caller)
  const users = await context.findUsers(caller.organizationId, sharedWith.map(String))
  const shown = users.map(({ id, name, email }) => ({ _id: objectId(id), name, email }))
  return runList({
    scope: context.collections.of(caller.organizationId).senders,
    base: { _id },
    // They are another service's: the database gets them with the question, and filters and orders them like its own.
    stages: [{ $project: { user: { $literal: shown } } }, { $unwind: '$user' }, { $replaceRoot: { newRoot: '$user' } }],
    fields: { name: 'string', email: 'string' },
    defaultSort: { name: 1 },
    query: list ?? {},
  })
}

/** @throws {AppError} invalid_field at the first id that is no user of the organization */
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
