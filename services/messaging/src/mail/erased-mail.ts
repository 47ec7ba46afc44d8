import { ERASED } from '@rollcall/service'
import type { Mail } from './mail.model.ts'

/** Returns a mail without what names its recipient. */
export function withoutRecipient(mail: Mail): Mail {
  return { ...mail, to: ERASED, subject: ERASED }
}

/** Returns the condition that the recipient of a mail was not erased since the mail was read. */
export function notErasedSince({ to }: Pick<Mail, 'to'>): object {
  return { to: to === ERASED ? ERASED : { $ne: ERASED } }
}
