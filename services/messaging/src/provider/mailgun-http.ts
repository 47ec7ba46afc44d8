import { z } from 'zod'

/** An account at Mailgun: base URL of its region, and its API key. */
export type MailgunAccount = { apiUrl: string; apiKey: string }

/** A request to Mailgun. */
export type MailgunCall = { method: 'GET' | 'PUT' | 'POST' | 'DELETE'; path: string; form?: FormData }

/** Thrown if Mailgun rejects a request permanently. */
export class Refusal extends Error {
  override name = 'Refusal'
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

const MAX_ANSWER_BYTES = 1024 * 1024
const MAX_MESSAGE_CHARACTERS = 300
const messageSchema = z.object({ message: z.string() })

/**
 * Sends one request to Mailgun (https://documentation.mailgun.com). Returns the body, truncated if it is too long.
 * @throws {Refusal} if Mailgun rejects the request; any other error is temporary
 */
export async function callMailgun(
  { apiUrl, apiKey }: MailgunAccount,
  { method, path, form }: MailgunCall,
  answerMs: number,
): Promise<string> {
  const authorization = `Basic ${Buffer.from(`api:${apiKey}`).toString('base64')}`
  const answer = await fetch(new URL(path, apiUrl), {
    method,
    headers: { authorization, accept: 'application/json' },
    redirect: 'error', // the key is for this host only
    signal: AbortSignal.timeout(answerMs),
    ...(form && { body: form }),
  })
  const text = await readLimited(answer)
  if (answer.ok) return text
  const { status } = answer
  if (status === 429 || status >= 500) throw new Error(`${status} ${messageIn(text)}`)
  throw new Refusal(status, messageIn(text))
}

/** Returns the message in a response, or the start of its text. */
export function messageIn(text: string): string {
  return messageOf(text).slice(0, MAX_MESSAGE_CHARACTERS) || 'no details'
}

function messageOf(text: string): string {
  try {
    return messageSchema.parse(JSON.parse(text)).message
  } catch {
    return text
  }
}

async function readLimited(answer: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of answer.body ?? []) {
    chunks.push(chunk)
    bytes += chunk.byteLength
    if (bytes >= MAX_ANSWER_BYTES) break
  }
  return Buffer.concat(chunks).toString('utf8')
}
