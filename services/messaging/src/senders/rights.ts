import { AppError } from '@rollcall/contract'
import type { Caller } from '@rollcall/rpc'
import { objectId } from '@rollcall/store'
import type { ClientSession, Types } from 'mongoose'
import type { Context } from '../context.ts'
import type { Sender } from './sender.model.ts'

/**
 * Relation of a user to a sender. A token has the relation of its creator. `heir`: the organization's owner, for a
 * sender whose owner is deleted. If the creator is deleted, the sender's owner counts as creator.
 */
export type Standing = 'owner' | 'creator' | 'shared' | 'heir'

/** Actions on a sender, and who may do them. Roles do not matter here. */
const allowed = {
  read: ['owner', 'shared', 'heir'],
  update: ['owner'],
  delete: ['owner'],
  setDefault: ['owner'],
  test: ['owner'],
  connect: ['owner'],
  transfer: ['owner', 'heir'],
  share: ['creator'],
  unshare: ['creator'],
  listShared: ['creator'],
} as const satisfies Record<string, readonly Standing[]>

type RightsContext = Pick<Context, 'collections' | 'findUsers'>

/** An action on a sender. */
export type SenderAction = keyof typeof allowed

/** Returns a filter for the senders that a caller may see. */
export async function visibleTo(context: RightsContext, caller: Caller): Promise<object> {
  const user = personOf(caller)
  const orphaned = { owner: null }
  const hasOrphans = (await context.collections.of(caller.organizationId).senders.findOne(orphaned)) !== null
  const isHeir = hasOrphans && (await isOrganizationOwner(context, caller))
  return { $or: [{ owner: user }, { sharedWith: user }, ...(isHeir ? [orphaned] : [])] }
}

/**
 * Returns the user id of a caller; for a token, of its creator.
 * @throws {AppError} sender.person_required for a service
 */
export function personOf({ userId }: Caller): Types.ObjectId {
  if (userId === null) throw new AppError('sender.person_required')
  return objectId(userId)
}

/**
 * Returns a sender if the caller may do this with it.
 * @throws {AppError} sender.not_found if the caller may not see it, sender.not_allowed if it may not do this
 */
export async function senderFor(
  context: RightsContext,
  action: SenderAction,
  id: string,
  caller: Caller,
  tx?: ClientSession,
): Promise<Sender> {
  const user = personOf(caller)
  const sender = await context.collections.of(caller.organizationId).senders.get(id, 'sender', { tx })
  const standings = await standingsOf(context, sender, user, caller)
  const may: readonly Standing[] = allowed[action]
  if (may.some(standing => standings.has(standing))) return sender
  if (allowed.read.some(standing => standings.has(standing))) throw notAllowed(may)
  throw new AppError('sender.not_found')
}

async function standingsOf(
  context: RightsContext,
  sender: Sender,
  user: Types.ObjectId,
  caller: Caller,
): Promise<Set<Standing>> {
  const { owner, creator, sharedWith } = sender
  const is = (id: Types.ObjectId | null) => user.equals(id)
  const standings = new Set<Standing>()
  if (is(owner)) standings.add('owner')
  if (sharedWith.some(is)) standings.add('shared')
  if (is(creator) || (is(owner) && (await isCreatorGone(context, sender)))) standings.add('creator')
  if (owner === null && (await isOrganizationOwner(context, caller))) standings.add('heir')
  return standings
}

async function isCreatorGone({ findUsers }: RightsContext, { organization, creator }: Sender): Promise<boolean> {
  return (await findUsers(String(organization), [String(creator)])).length === 0
}

/** Whether the user is the organization's owner. For a token, its creator counts, not its role. */
async function isOrganizationOwner({ findUsers }: RightsContext, { organizationId, userId }: Caller): Promise<boolean> {
  const [user] = await findUsers(organizationId, [userId!])
  return user?.role === 'owner'
}

function notAllowed(may: readonly Standing[]): AppError {
  const who = may.includes('creator') ? 'creator' : 'owner'
  return new AppError('sender.not_allowed', { who })
}
