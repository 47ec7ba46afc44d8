import { AppError } from '@rollcall/contract'
import type { SendMailRequest } from '@rollcall/protos/gen/messaging-v1.ts'
import type { Caller, Handlers } from '@rollcall/rpc'
import { addEvents, isDuplicate } from '@rollcall/store'
import { type ClientSession, Types } from 'mongoose'
import type { Tenant } from '../collections.ts'
import type { Context } from '../context.ts'
import { domainOf, type Sender } from '../senders/sender.model.ts'
import { senderFault, usableSender } from '../senders/sender-use.ts'
import type { MailKind } from './mail.model.ts'
import { mailEvent } from './mail-events.ts'
import { countMail } from './mail-quota.ts'

/** Handlers that accept mail from other services. */
export const mail = (context: Context): Handlers<'rollcall.messaging.v1.Mail'> => ({
  async checkDefaultSender(_request, { caller }) {
    const sender = await context.collections.of(caller.organizationId).senders.findOne({ isDefault: true })
    return { usable: sender !== null && (await senderFault(context, sender)) === undefined }
  },

  async sendMail(request, { caller }) {
    const collections = context.collections.of(caller.organizationId)
    const { mails } = collections
    const known = await mails.findOne({ key: request.key })
    if (known) return { id: String(known._id) }
    const sender = await senderOf(context, request, caller)
    const isAccountMail = kindOf(request) === 'account'
    if (isAccountMail) await countMail(context, { ...request, organizationId: caller.organizationId })
    try {
      const id = await context.store.transaction(tx => acceptMail(context, collections, request, sender, tx))
      const job = isAccountMail ? context.accountMailJob : context.mailJob
      job.wake()
      return { id: String(id) }
    } catch (error) {
      if (!isDuplicate(error)) throw error
      return { id: String((await mails.findOne({ key: request.key }))!._id) } // stored by a concurrent call
    }
  },
})

function kindOf({ senderId, fromDefault = false }: SendMailRequest): MailKind {
  return senderId !== undefined || fromDefault ? 'transactional' : 'account'
}

/**
 * Returns the sender of a mail, or the organization's default; null for the installation's own mail.
 * @throws {AppError} sender.unknown; sender.no_default and others if the default one cannot send
 */
async function senderOf(
  context: Context,
  { senderId, fromDefault = false }: SendMailRequest,
  caller: Caller,
): Promise<Sender | null> {
  if (senderId === undefined) return fromDefault ? usableSender(context, undefined, caller, 'fromDefault') : null
  const sender = await context.collections.of(caller.organizationId).senders.findOne({ _id: senderId })
  if (!sender) throw new AppError('sender.unknown', { path: 'senderId' })
  return sender
}

/** Stores a mail with its event, in the given transaction. */
export async function acceptMail(
  { config }: Pick<Context, 'config'>,
  { mails }: Pick<Tenant, 'mails'>,
  request: SendMailRequest,
  sender: Sender | null,
  tx: ClientSession,
): Promise<Types.ObjectId> {
  const { key, to, subject, text, html, contactId, userId, expiresAt, confirms } = request
  const _id = new Types.ObjectId()
  const from = sender?.email ?? config.MAIL_FROM.address
  const draft = {
    _id,
    key,
    kind: kindOf(request),
    to,
    subject,
    text,
    html: html ?? null,
    contact: contactId ?? null,
    user: userId ?? null,
    sender: sender?._id ?? null,
    from,
    messageId: `<${_id}@${domainOf(from)}>`,
    ...(confirms && { confirms }),
    expiresAt: expiresAt === undefined ? null : new Date(expiresAt),
    dueAt: new Date(),
    steps: [{ type: 'queued' as const, at: new Date(), detail: null }],
  }
  const accepted = await mails.insertOne(draft, { tx })
  await addEvents(tx, [mailEvent(accepted, 'queued', accepted.createdAt)])
  return _id
}
