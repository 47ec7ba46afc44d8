import { randomUUID } from 'node:crypto'
import { AppError } from '@rollcall/contract'
import { type Client, serviceCaller } from '@rollcall/rpc'
import { type Logger, retry } from '@rollcall/runtime'

/** A mail to one person, as plain text. */
export type Mail = {
  /** On whose behalf, and the account it goes to where there is one: it shows among the user's mails. */
  organizationId: string
  userId?: string
  to: string
  subject: string
  text: string
  purpose: 'invitation' | 'new_account' | 'sign_in_code' | 'password_reset'
  /** When the code or link in it stops working. */
  expiresAt: Date
}

/** Sends mails; resolves once a mail is on its way. */
export type Mailer = { send(mail: Mail): Promise<void> }

/** After so long whoever asked for the mail hears that it cannot be sent now. */
const TIMEOUT_MS = 5000

/** Has the messaging service send mails: once it has taken a mail, it sees to it. */
export function createMailer(messaging: Client<'rollcall.messaging.v1.Mail'>): Mailer {
  return {
    async send({ organizationId, expiresAt, ...mail }) {
      const caller = serviceCaller('identity', organizationId)
      const request = { ...mail, expiresAt: expiresAt.toISOString(), key: randomUUID() } // the same for every try: it is one mail
      await retry(() => messaging.sendMail(request, { caller }), {
        deadline: Date.now() + TIMEOUT_MS,
        retryable: error => error instanceof AppError && error.code === 'service.unavailable',
      })
    },
  }
}

/** The transport where nothing delivers mail: the log says that there was one, without the code or link in it. */
export function createLogMailer(logger: Logger): Mailer {
  return {
    send: async ({ organizationId, to, subject }) =>
      logger.warn({ organizationId, to, subject }, 'mail not sent, MESSAGING_ADDRESS is not set'),
  }
}
