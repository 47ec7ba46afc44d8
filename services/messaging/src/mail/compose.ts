import { createTransport } from 'nodemailer'

/** A mail as people see it. */
export type Message = {
  /** Stays the same however often the mail is tried, so that a mail that arrives twice can be told. */
  messageId: string
  date: Date
  from: { name: string; address: string }
  replyTo: string | null
  to: string
  subject: string
  text: string
  html: string | null
}

/** The key that a domain signs with; the private one as PEM. */
export type DkimKey = { domainName: string; keySelector: string; privateKey: string }

/** A mail as servers see it: the envelope, and the signed MIME text. */
export type Payload = { from: string; to: string; raw: Buffer }

const composer = createTransport({
  streamTransport: true,
  buffer: true,
  newline: 'windows',
  disableFileAccess: true,
  disableUrlAccess: true,
})

/** Makes the MIME text of a mail, signed with the key where there is one. */
export async function compose(message: Message, dkim?: DkimKey): Promise<Payload> {
  const { replyTo, html, ...rest } = message
  const { message: mime } = await composer.sendMail({
    ...rest,
    ...(replyTo !== null && { replyTo }),
    ...(html !== null && { html }),
    ...(dkim && { dkim }),
  })
  return { from: message.from.address, to: message.to, raw: mime as Buffer }
}
