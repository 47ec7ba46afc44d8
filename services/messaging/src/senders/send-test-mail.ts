import { AppError } from '@rollcall/contract'
import type { TestSenderRequest } from '@rollcall/protos/gen/messaging-v1.ts'
import type { Updated } from '@rollcall/protos/gen/types.ts'
import { actorOf, type Call } from '@rollcall/rpc'
import { quoted, TimeoutError, within } from '@rollcall/runtime'
import { addEvents } from '@rollcall/store'
import { Types } from 'mongoose'
import type { Context } from '../context.ts'
import { deliver } from '../mail/deliver.ts'
import { DeliveryError, toDeliveryError } from '../mail/delivery-error.ts'
import { mailEvent } from '../mail/mail-events.ts'
import { countMail } from '../mail/mail-quota.ts'
import { liftSuppression, ofAddress } from '../suppressions/suppress.ts'
import { senderFor } from './rights.ts'
import type { Sender } from './sender.model.ts'

/** Reserved for the answer before the deadline of the call. */
const ANSWER_MS = 1000
const TIMEOUT_MS = 30_000

type Outcome = { status: 'sent' | 'bounced' | 'failed'; message: string }

/** Sends a mail immediately, records it as a message of kind test, and returns the server's reply. */
export async function sendTestMail(context: Context, { id, to }: TestSenderRequest, call: Call): Promise<Updated> {
  const { caller, deadline } = call
  const sender = await senderFor(context, 'test', id, caller)
  await requireNotBlocked(context, caller.organizationId, to)
  await context.requireMailReach(caller.organizationId, to)
  await countMail(context, { organizationId: caller.organizationId, to })
  const _id = new Types.ObjectId()
  const message = {
    mail: { _id, organization: sender.organization },
    messageId: `<${_id}@${sender.domain}>`,
    date: new Date(),
    to,
    subject: `Test of ${quoted(sender.name)}`,
    text: `This mail shows that ${quoted(sender.name)}, ${sender.email}, can send.`,
    html: null,
  }
  const ms = Math.max(0, Math.min(TIMEOUT_MS, deadline - Date.now() - ANSWER_MS))
  const outcome = await within(ms, 'sending', () => deliver(context, caller.organizationId, sender, message)).then(
    message => ({ status: 'sent' as const, message }),
    outcomeOf,
  )
  await record(context, sender, { _id, ...message }, outcome)
  if (outcome.status !== 'sent') throw new AppError('sender.test_failed', { reply: outcome.message })
  const bounced = { ...ofAddress(context, to), kind: 'hard_bounce' } // the address has just accepted a mail
  await liftSuppression(context, caller.organizationId, bounced, actorOf(caller))
  return { success: true, message: outcome.message }
}

/** @throws {AppError} contact.blocked */
async function requireNotBlocked({ checkRecipients }: Context, organizationId: string, email: string): Promise<void> {
  const [checked] = await checkRecipients(organizationId, [{ email }], false)
  if (checked!.outcome === 'blocked') throw new AppError('contact.blocked')
}

function outcomeOf(error: unknown): Outcome {
  if (error instanceof AppError) throw error // the database, not the mail server
  const failure =
    error instanceof TimeoutError
      ? new DeliveryError('failed', 'the mail server did not answer in time', { cause: error })
      : toDeliveryError(error)
  return { status: failure.kind === 'bounced' ? 'bounced' : 'failed', message: failure.message }
}

/** Stores the message with its event, which adds it to the emails of the contact. */
async function record(
  { store, collections }: Context,
  sender: Sender,
  { _id, messageId, to, subject }: { _id: Types.ObjectId; messageId: string; to: string; subject: string },
  { status, message }: Outcome,
): Promise<void> {
  const { mails } = collections.of(sender.organization)
  const at = new Date()
  const isSent = status === 'sent'
  const error = isSent ? null : message
  const steps = [{ type: status, at, detail: message }]
  const end = { status, error, sentAt: isSent ? at : null, finishedAt: at, steps }
  const mail = { _id, key: `test of sender ${sender._id}: ${_id}`, kind: 'test' as const, to, subject, messageId }
  await store.transaction(async tx => {
    const kept = await mails.insertOne({ ...mail, sender: sender._id, from: sender.email, attempts: 1, ...end }, { tx })
    await addEvents(tx, [mailEvent(kept, status, at, error ?? undefined)])
  })
}
