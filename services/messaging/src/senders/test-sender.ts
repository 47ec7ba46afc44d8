import type { TestSenderRequest } from '@rollcall/protos/gen/messaging-v1.ts'
import type { Updated } from '@rollcall/protos/gen/types.ts'
import { AppError, type Call } from '@rollcall/rpc'
import { TimeoutError, within } from '@rollcall/runtime'
import { Types } from 'mongoose'
import type { Context } from '../context.ts'
import { deliver } from '../mail/deliver.ts'
import { toDeliveryError } from '../mail/delivery-error.ts'
import { senderFor } from './rights.ts'
import { emailKeyOf } from './sender.model.ts'

/** The answer has to be there before nobody waits for it any longer. */
const ANSWER_MS = 1000
const PATIENCE_MS = 30_000

/** Sends a mail at once, and answers what the server said to it. */
export async function testSender(context: Context, { id, to }: TestSenderRequest, call: Call): Promise<Updated> {
  const { caller, deadline } = call
  const sender = await senderFor(context, 'test', id, caller)
  const letter = {
    messageId: `<${new Types.ObjectId()}@${sender.domain}>`,
    date: new Date(),
    to,
    subject: `Test of ${sender.name}`,
    text: `This mail shows that ${sender.name} <${sender.email}> can send.`,
    html: null,
  }
  const ms = Math.max(0, Math.min(PATIENCE_MS, deadline - Date.now() - ANSWER_MS))
  try {
    const message = await within(ms, 'sending', () => deliver(context, caller.organizationId, sender, letter))
    await context.of(caller).bouncedAddresses.deleteOne({ emailKey: emailKeyOf(to) })
    return { success: true, message }
  } catch (error) {
    if (error instanceof AppError) throw error // the database, not the mail server
    const message =
      error instanceof TimeoutError ? 'the mail server did not answer in time' : toDeliveryError(error).message
    throw new AppError('refused', { message })
  }
}
