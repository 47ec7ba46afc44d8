import { AppError } from '@rollcall/contract'
import type { Caller } from '@rollcall/rpc'
import type { Context } from '../context.ts'
import { personOf, visibleTo } from './rights.ts'
import type { Sender } from './sender.model.ts'

/**
 * Returns the sender that a caller may send with: one it owns, one that is shared with it, or the default one. A token may
 * use what its creator may, and a service that acts for a user what this user may. Any other service may use any: it asked
 * this for a person before.
 * @param path field of the request that names the sender
 * @throws {AppError} sender.no_default, sender.unknown, sender.not_usable, sender.domain_unusable
 */
export async function usableSender(
  context: Context,
  id: string | undefined,
  caller: Caller,
  path: string,
): Promise<Sender> {
  const sender =
    id === undefined ? await defaultSender(context, caller, path) : await namedSender(context, id, caller, path)
  const fault = await senderFault(context, sender)
  if (fault === 'domain') throw new AppError('sender.domain_unusable', { path, domain: sender.domain })
  if (fault !== undefined) throw new AppError('sender.not_usable', { reason: fault })
  return sender
}

/** Returns the caller that acts for a user. Users and tokens act for themselves alone. */
export function actingFor(userId: string | undefined, caller: Caller): Caller {
  return caller.kind === 'service' && userId !== undefined ? { ...caller, userId } : caller
}

async function defaultSender({ collections }: Context, { organizationId }: Caller, path: string): Promise<Sender> {
  const sender = await collections.of(organizationId).senders.findOne({ isDefault: true })
  if (!sender) throw new AppError('sender.no_default', { path })
  return sender
}

async function namedSender(context: Context, id: string, caller: Caller, path: string): Promise<Sender> {
  const { senders } = context.collections.of(caller.organizationId)
  const sender = await senders.findOne({ _id: id })
  if (sender && caller.kind === 'service' && caller.userId === null) return sender
  const user = personOf(caller)
  const isVisible = async () =>
    (await senders.findOne({ $and: [{ _id: id }, await visibleTo(context, caller)] })) !== null
  if (!sender || !(sender.isDefault || (await isVisible()))) throw new AppError('sender.unknown', { path })
  const mayUse = sender.isDefault || user.equals(sender.owner) || sender.sharedWith.some(each => user.equals(each))
  if (!mayUse) throw new AppError('sender.not_usable', { reason: 'it has no owner' })
  return sender
}

/** Returns why a sender cannot send now: `domain` if its domain is not verified; undefined if it can. */
export async function senderFault(
  { collections }: Pick<Context, 'collections'>,
  { organization, active, delivery, oauth, domain }: Sender,
): Promise<string | undefined> {
  if (!active) return 'it is not active'
  if (delivery === 'oauth') return oauth?.status === 'connected' ? undefined : 'its mail account is not connected'
  const verified = await collections.of(organization).domains.findOne({ domain, status: 'verified' })
  return verified ? undefined : 'domain'
}
