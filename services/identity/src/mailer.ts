import { randomUUID } from 'node:crypto'
import { AppError } from '@rollcall/contract'
import { type Client, serviceCaller } from '@rollcall/rpc'
import { type Logger, retry } from '@rollcall/runtime'

/** A mail to one person, as plain text. */
export type Mail = {
  /** The sending organization, and the recipient's account if there is one, whose mail list will show it. */
  organizationId: string
  userId?: string
  to: string
  subject: string
  text: string
  purpose:
    | 'invitation'
    | 'new_account'
    | 'sign_in_code'
    | 'password_reset'
    | 'email_change'
    | 'email_changed'
    | 'password_changed'
    | 'second_factor_changed'
  /** When the code or link in it stops working; absent if it has none. */
  expiresAt?: Date
}

/** Sends mails; resolves once a mail is accepted. */
export type Mailer = { send(mail: Mail): Promise<void> }

/** Time until the request for the mail fails as unavailable. */
const TIMEOUT_MS = 5000

/** Creates a mailer that uses the messaging service, which delivers and retries accepted mails. */
export function createMailer(messaging: Client<'rollcall.messaging.v1.Mail'>): Mailer {
  return {
    async send({ organizationId, expiresAt, ...mail }) {
      const caller = serviceCaller('identity', organizationId)
      const expiry = expiresAt && { expiresAt: expiresAt.toISOString() }
      const request = { ...mail, ...expiry, key: randomUUID() } // one key for all retries
      await retry(() => messaging.sendMail(request, { caller }), {
        deadline: Date.now() + TIMEOUT_MS,
        retryable: error => error instanceof AppError && error.code === 'service.unavailable',
      })
    },
  }
}

/** Creates a mailer that only logs that there was a mail, without its code or link. */
export function createLogMailer(logger: Logger): Mailer {
  return {
    send: async ({ organizationId, to, subject }) =>
      logger.warn({ organizationId, to, subject }, 'mail not sent, MESSAGING_ADDRESS is not set'),
  }
}
