import type { KeyObject } from 'node:crypto'
import { createTransport } from 'nodemailer'

/** The content of a mail. */
export type Message = {
  /** The same for all attempts, so that receivers can detect duplicates. */
  messageId: string
  date: Date
  from: { name: string; address: string }
  replyTo: string | null
  to: string
  subject: string
  /** Absent only with html. */
  text?: string | undefined
  html: string | null
  headers?: Record<string, string>
  /** Envelope sender, which bounces go to. Default: the address of `from`. */
  envelopeFrom?: string | undefined
}

/** DKIM key of a domain. The private key is parsed, which takes as long as half a signature. */
export type DkimKey = { domainName: string; keySelector: string; privateKey: KeyObject }

/** A mail for delivery: envelope and signed MIME text. */
export type Payload = { from: string; to: string; raw: Buffer }

/** Covers what RFC 6376 §5.4.1 recommends, and both headers that unsubscribe (RFC 8058 §4). */
const SIGNED_HEADERS = [
  'From:Sender:Reply-To:Subject:Date:Message-ID:To:Cc:MIME-Version:Content-Type:Content-Transfer-Encoding',
  'In-Reply-To:References:List-Unsubscribe:List-Unsubscribe-Post',
].join(':')

const composer = createTransport({
  streamTransport: true,
  buffer: true,
  newline: 'windows',
  disableFileAccess: true,
  disableUrlAccess: true,
})

/** The key goes to `sign` of Node as it is, which takes more than the text that the types name. */
function dkimOptions(dkim: DkimKey) {
  return { ...dkim, privateKey: dkim.privateKey as unknown as string, headerFieldNames: SIGNED_HEADERS }
}

/** Composes the MIME text of a mail, signed if a key is given. */
export async function compose(message: Message, dkim?: DkimKey): Promise<Payload> {
  const { replyTo, html, envelopeFrom, ...rest } = message
  const { message: mime } = await composer.sendMail({
    ...rest,
    ...(replyTo !== null && { replyTo }),
    ...(html !== null && { html }),
    ...(dkim && { dkim: dkimOptions(dkim) }),
  })
  return { from: envelopeFrom ?? message.from.address, to: message.to, raw: mime as Buffer }
}
