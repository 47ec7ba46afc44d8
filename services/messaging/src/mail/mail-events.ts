import { randomUUID } from 'node:crypto'
import type { Event } from '@rollcall/runtime'
import type { Mail, MailStatus } from './mail.model.ts'

/** Tells what has become of a mail; `error` is why it did not arrive. */
export function mailEvent(mail: Mail, status: MailStatus, at: Date, error?: string): Event {
  const { _id, organization, kind, to, subject, from, contact, user } = mail
  return {
    id: randomUUID(),
    type: `email.${status}`,
    source: 'messaging',
    subject: String(_id),
    organization: String(organization),
    time: at.toISOString(),
    data: {
      emailId: String(_id),
      kind,
      to,
      subject,
      sender: from,
      ...(contact !== null && { contactId: contact }),
      ...(user !== null && { userId: user }),
      at: at.toISOString(),
      ...(error !== undefined && { error }),
    },
  }
}
