import { event, type OutgoingEvent } from '@rollcall/store'
import type { Mail, MailStatus } from './mail.model.ts'

/** Statuses that follow from sending. */
export type PublishedStatus = Exclude<MailStatus, 'waiting' | 'scheduled' | 'cancelled'>

/** Creates the event for a mail's status; `error` is why it was not sent or delivered, `url` the link that was opened. */
export function mailEvent(
  mail: Mail,
  status: Exclude<MailStatus, 'waiting'>,
  at: Date,
  error?: string,
  url?: string,
): OutgoingEvent {
  const { _id, kind, to, subject, from, contact, user, campaign } = mail
  const data = {
    emailId: _id,
    kind,
    to,
    subject,
    sender: from,
    ...(contact !== null && { contactId: contact }),
    ...(user !== null && { userId: user }),
    ...(campaign && { campaignId: String(campaign) }),
    at,
    ...(error !== undefined && { error }),
    ...(url !== undefined && { url }),
  }
  return event(`email.${status}`, mail, data, at)
}
