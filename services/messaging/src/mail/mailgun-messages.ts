import type { MailgunAccount } from '../provider/provider-of.ts'
import type { Parcel } from './compose.ts'
import { DeliveryError } from './delivery-error.ts'

const ANSWER_MS = 20_000

/** Hands a mail to the hosted provider, which signs it, and answers what it said. @throws {DeliveryError} */
export async function sendByMailgun(
  { apiUrl, apiKey }: MailgunAccount,
  domain: string,
  parcel: Parcel,
): Promise<string> {
  const form = new FormData()
  form.set('to', parcel.to)
  form.set('message', new Blob([new Uint8Array(parcel.raw)], { type: 'message/rfc822' }), 'message.eml')
  const answer = await fetch(new URL(`/v3/${encodeURIComponent(domain)}/messages.mime`, apiUrl), {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`api:${apiKey}`).toString('base64')}` },
    body: form,
    redirect: 'error', // the key is for this host alone
    signal: AbortSignal.timeout(ANSWER_MS),
  })
  const text = await answer.text()
  if (answer.ok) return messageIn(text)
  const isTransient = answer.status === 429 || answer.status >= 500
  throw new DeliveryError(isTransient ? 'transient' : 'failed', `${answer.status} ${messageIn(text)}`)
}

function messageIn(text: string): string {
  try {
    const { message } = JSON.parse(text) as { message?: unknown }
    if (typeof message === 'string') return message
  } catch {} // not JSON: as it is
  return text.slice(0, 500)
}
