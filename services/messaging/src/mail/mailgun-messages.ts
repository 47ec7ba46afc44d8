import { callMailgun, type MailgunAccount, messageIn, Refusal } from '../provider/mailgun-http.ts'
import type { Payload } from './compose.ts'
import { DeliveryError } from './delivery-error.ts'

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
    if (!(cause instanceof Refusal)) throw unanswered(cause)
    const isAboutMail = ABOUT_MAIL.has(cause.status)
    throw new DeliveryError('failed', `${cause.status} ${cause.message}`, { isAboutMail, cause })
  }
}

/** Statuses that refuse one message; others concern the account. */
const ABOUT_MAIL: ReadonlySet<number> = new Set([400, 413, 422])
/** Answers by which Mailgun takes nothing now. Gateways give others, such as 502, which say nothing of what is behind them. */
const NOT_TAKEN = /^(429|500|503) /
/** Errors before anything was sent: without a connection, or without a secure one. */
const NEVER_SENT =
  /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|CONNECT_TIMEOUT|ERR_(SSL|TLS)_|CERT|UNABLE_TO_VERIFY|before secure TLS connection/

function unanswered(cause: unknown): DeliveryError {
  const { message, cause: inner } = cause instanceof Error ? cause : new Error(String(cause))
  const { code = '', message: detail = '' } = (inner ?? {}) as { code?: string; message?: string }
  const mayHaveArrived = !NOT_TAKEN.test(message) && !NEVER_SENT.test(`${code} ${detail}`)
  return new DeliveryError('transient', message, { mayHaveArrived, isUnreachable: !mayHaveArrived, cause })
}
