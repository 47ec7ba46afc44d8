import { AppError } from '@rollcall/contract'
import type { TestSmtpRequest } from '@rollcall/protos/gen/messaging-v1.ts'
import type { Updated } from '@rollcall/protos/gen/types.ts'
import type { Call } from '@rollcall/rpc'
import { TimeoutError, within } from '@rollcall/runtime'
import type { Context } from '../context.ts'
import { DeliveryError } from '../mail/delivery-error.ts'
import { newSmtp } from './smtp-settings.ts'

/** Reserved for the answer before the deadline of the call. */
const ANSWER_MS = 1000

/**
 * Connects to a mail server that is not stored and signs in.
 * @throws {AppError} request.invalid_field, request.missing_field, sender.test_failed with the server's reply
 */
export async function checkSmtp(
  { smtp, addressPolicy }: Context,
  request: TestSmtpRequest,
  { deadline }: Call,
): Promise<Updated> {
  const { username: user, ...server } = await newSmtp(request.smtp!, addressPolicy)
  const pass = request.smtp!.password
  const auth = user !== null && pass !== undefined ? { auth: { user, pass } } : {}
  const ms = Math.max(0, deadline - Date.now() - ANSWER_MS)
  try {
    await within(ms, 'connecting', () => smtp.verify({ ...server, ...auth }, addressPolicy))
  } catch (error) {
    if (error instanceof DeliveryError) throw new AppError('sender.test_failed', { reply: error.message })
    if (!(error instanceof TimeoutError)) throw error
    throw new AppError('sender.test_failed', { reply: 'the mail server did not answer in time' })
  }
  return { success: true, message: 'the mail server accepts the settings' }
}
