import { z } from 'zod'

/** An account at Mailgun: where its region is reached, without a path, and the key to it. */
export type MailgunAccount = { apiUrl: string; apiKey: string }

/** What Mailgun is asked. */
export type MailgunCall = { method: 'GET' | 'PUT' | 'POST' | 'DELETE'; path: string; form?: FormData }

/** Mailgun said no, and would say so again: the status says to what. */
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
 * Asks Mailgun (https://documentation.mailgun.com) once, and answers what it said; of an answer without end, its beginning.
 * @throws {Refusal} where it says no; any other error where it may say something else the next time
 */
export async function askMailgun(
  { apiUrl, apiKey }: MailgunAccount,
  { method, path, form }: MailgunCall,
  answerMs: number,
): Promise<string> {
  const authorization = `Basic ${Buffer.from(`api:${apiKey}`).toString('base64')}`
  const answer = await fetch(new URL(path, apiUrl), {
    method,
    headers: { authorization, accept: 'application/json' },
    redirect: 'error', // the key is for this host alone
    signal: AbortSignal.timeout(answerMs),
    ...(form && { body: form }),
  })
  const text = await beginningOf(answer)
  if (answer.ok) return text
  const { status } = answer
  if (status === 429 || status >= 500) throw new Error(`${status} ${messageIn(text)}`)
  throw new Refusal(status, messageIn(text))
}

/** The message that an answer holds; of one that holds none, its first words. */
export function messageIn(text: string): string {
  return messageOf(text).slice(0, MAX_MESSAGE_CHARACTERS) || 'nothing more'
}

function messageOf(text: string): string {
  try {
    return messageSchema.parse(JSON.parse(text)).message
  } catch {
    return text
  }
}

async function beginningOf(answer: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of answer.body ?? []) {
    chunks.push(chunk)
    bytes += chunk.byteLength
    if (bytes >= MAX_ANSWER_BYTES) break
  }
  return Buffer.concat(chunks).toString('utf8')
}
