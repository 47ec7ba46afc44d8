import { callMailgun, type MailgunAccount, messageIn, Refusal } from '../provider/mailgun-http.ts'
import type { Payload } from './compose.ts'
import { DeliveryError, toDeliveryError } from './delivery-error.ts'

const ANSWER_MS = 20_000

/**
 * Sends a mail through Mailgun, which signs it. Returns its reply.
 * @throws {DeliveryError}
 */
export async function sendByMailgun(account: MailgunAccount, domain: string, payload: Payload): Promise<string> {
  const form = new FormData()
  form.set('to', payload.to)
  form.set('message', new Blob([new Uint8Array(payload.raw)], { type: 'message/rfc822' }), 'message.eml')
  const path = `/v3/${encodeURIComponent(domain)}/messages.mime`
  try {
    return messageIn(await callMailgun(account, { method: 'POST', path, form }, ANSWER_MS))
  } catch (cause) {
    if (!(cause instanceof Refusal)) throw toDeliveryError(cause)
    throw new DeliveryError('failed', `${cause.status} ${cause.message}`, { cause })
  }
}
