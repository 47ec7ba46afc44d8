import { AppError, type Caller } from '@rollcall/rpc'
import { objectId } from '@rollcall/store'
import type { ClientSession, Types } from 'mongoose'
import type { Context } from '../context.ts'
import type { Sender } from './sender.model.ts'

/** What someone can be to a sender. A token is what the person is who made it. */
export type Standing = 'owner' | 'creator' | 'shared' | 'heir'

/** What can be done with a sender, and who may: nobody else, whatever their role. */
const allowed = {
  read: ['owner', 'shared'],
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

/** Something done with a sender. */
export type SenderAction = keyof typeof allowed

/** Conditions that find the senders which a caller may see. */
export function visibleTo(caller: Caller): object {
  const user = personOf(caller)
  return { $or: [{ owner: user }, { sharedWith: user }] }
}

/** The person a caller is: a token is who made it. @throws {AppError} forbidden for a service */
export function personOf({ userId }: Caller): Types.ObjectId {
  if (userId === null) throw new AppError('forbidden', { message: 'Only people have senders.' })
  return objectId(userId)
}

/**
 * The sender, for a caller who may do this with it.
 * @throws {AppError} not_found where the caller may not even see it, forbidden where it may not do this
 */
export async function senderFor(
  context: Pick<Context, 'of' | 'findUsers'>,
  action: SenderAction,
  id: string,
  caller: Caller,
  session?: ClientSession,
): Promise<Sender> {
  const user = personOf(caller)
  const sender = await context.of(caller).senders.findOne({ _id: id }, { session })
  if (!sender) throw notFound()
  const standings = standingsOf(sender, user)
  const may: readonly Standing[] = allowed[action]
  if (may.some(standing => standings.has(standing))) return sender
  if (may.includes('heir') && sender.owner === null && (await isOrganizationOwner(context, caller))) return sender
  if (standings.has('owner') || standings.has('shared')) throw notAllowed(may)
  throw notFound()
}

function standingsOf({ owner, creator, sharedWith }: Sender, user: Types.ObjectId): Set<Standing> {
  const is = (id: Types.ObjectId | null) => user.equals(id)
  const standings = new Set<Standing>()
  if (is(owner)) standings.add('owner')
  if (is(creator)) standings.add('creator')
  if (sharedWith.some(is)) standings.add('shared')
  return standings
}

/** The person decides, also for a token whose role is less. */
async function isOrganizationOwner(
  { findUsers }: Pick<Context, 'findUsers'>,
  { organizationId, userId }: Caller,
): Promise<boolean> {
  const [user] = await findUsers(organizationId, [userId!])
  return user?.role === 'owner'
}

function notAllowed(may: readonly Standing[]): AppError {
  const who = may.includes('creator') ? 'creator' : 'owner'
  return new AppError('forbidden', { message: `Only the sender's ${who} may do this.` })
}

function notFound(): AppError {
  return new AppError('not_found', { what: 'sender' })
}
