import { isDeepStrictEqual } from 'node:util'
import { AppError } from '@rollcall/contract'
import type { UpdateSenderRequest } from '@rollcall/protos/gen/messaging-v1.ts'
import { actorOf, type Caller } from '@rollcall/rpc'
import { retry } from '@rollcall/runtime'
import { addEvents, changedFields, changesBetween, event, isDuplicate, type OutgoingEvent } from '@rollcall/store'
import type { ClientSession } from 'mongoose'
import type { Context } from '../context.ts'
import { releaseDomain } from '../domains/domain-use.ts'
import { type SenderAction, senderFor } from './rights.ts'
import { secretPlace } from './secret-places.ts'
import { publicSender, type Sender } from './sender.model.ts'
import { checkSmtpChange } from './smtp-settings.ts'

/**
 * Changes a sender if the caller has the right to, with its event. Checks the right in the transaction of the change.
 * @param change returns the update for the current sender
 */
export function changeSender(
  context: Context,
  action: SenderAction,
  { id, caller }: { id: string; caller: Caller },
  change: (sender: Sender) => object,
): Promise<void> {
  return context.store.transaction(async tx => {
    const sender = await senderFor(context, action, id, caller, tx)
    const { senders } = context.collections.of(caller.organizationId)
    const changed = await senders.findOneAndUpdate({ _id: sender._id }, change(sender), { tx })
    if (changed) await addEvents(tx, updatedEvents(sender, changed, caller))
  })
}

/** Returns the event of a sender that changed; none if nothing changed. Secrets are named, never shown. */
function updatedEvents(before: Sender, after: Sender, caller: Caller): OutgoingEvent[] {
  const { updatedAt: _, ...fields } = after
  const changed = changedFields(before, fields)
  if (changed.length === 0) return []
  const sender = publicSender(after)
  const data = {
    sender,
    changed,
    changes: changesBetween(changed, publicSender(before), sender),
    actor: actorOf(caller),
  }
  return [event('email.sender.updated', after, data)]
}

/** Updates name, reply address, activity and mail server. */
export async function updateSender(context: Context, request: UpdateSenderRequest, caller: Caller): Promise<void> {
  const { id, name, replyTo, active, smtp } = request
  const before = await senderFor(context, 'update', id, caller)
  // Resolves the host before the transaction, because it may take seconds.
  if (smtp) await checkSmtpChange(before, smtp, context.addressPolicy)
  await changeSender(context, 'update', { id, caller }, sender => {
    if (smtp) requireSameServer(before, sender)
    return {
      $set: {
        ...(name !== undefined && { name }),
        ...(replyTo !== undefined && { replyTo: replyTo || null }),
        ...(active !== undefined && { active }),
        ...(smtp && smtpFields(context, before, smtp)),
      },
    }
  })
}

/** Requires unchanged settings since the check, so that a password does not go to the server of a concurrent change. */
function requireSameServer(checked: Sender, current: Sender): void {
  const isSame =
    isDeepStrictEqual(checked.smtp, current.smtp) && isDeepStrictEqual(checked.smtpPassword, current.smtpPassword)
  if (!isSame) throw new AppError('sender.smtp_changed')
}

function smtpFields(
  { secrets }: Context,
  sender: Sender,
  { password, username, ...rest }: NonNullable<UpdateSenderRequest['smtp']>,
): Record<string, unknown> {
  const given = Object.entries({ ...rest, username: username === '' ? null : username })
  return {
    ...Object.fromEntries(
      given.filter(([, value]) => value !== undefined).map(([key, value]) => [`smtp.${key}`, value]),
    ),
    ...(username === '' && { smtpPassword: null }),
    ...(password !== undefined && { smtpPassword: secrets.seal(password, secretPlace.password(sender)) }),
  }
}

/**
 * Makes a sender the organization's default instead of the current one. Of concurrent calls, the database accepts one
 * at a time; the others retry.
 */
export function setDefaultSender(
  context: Pick<Context, 'store' | 'collections' | 'findUsers'>,
  id: string,
  caller: Caller,
): Promise<void> {
  const { senders } = context.collections.of(caller.organizationId)
  const work = async (tx: ClientSession) => {
    const sender = await senderFor(context, 'setDefault', id, caller, tx)
    if (sender.isDefault) return
    await senders.rewriteOne({ isDefault: true }, { isDefault: false }, { tx })
    const changed = await senders.rewriteOne({ _id: sender._id }, { isDefault: true }, { tx })
    await addEvents(tx, updatedEvents(sender, changed!, caller))
  }
  const queue = `default sender of ${caller.organizationId}`
  return retry(() => context.store.transaction(work, { queue }), { attempts: 10, retryable: isDuplicate })
}

/** Deletes a sender and releases its domain. */
export async function deleteSender(context: Context, id: string, caller: Caller): Promise<Sender> {
  const collections = context.collections.of(caller.organizationId)
  return context.store.transaction(async tx => {
    const sender = await senderFor(context, 'delete', id, caller, tx)
    const { deletedCount } = await collections.senders.deleteOne({ _id: sender._id }, { tx })
    if (deletedCount === 0) throw new AppError('sender.not_found')
    if (sender.delivery !== 'oauth') await releaseDomain(collections, sender.domain, tx)
    const data = { sender: publicSender(sender), actor: actorOf(caller) }
    await addEvents(tx, [event('email.sender.deleted', sender, data)])
    return sender
  })
}
