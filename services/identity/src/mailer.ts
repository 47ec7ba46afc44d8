import type { Logger } from '@rollcall/runtime'

/** A mail to one person, as plain text. */
export type Mail = { to: string; subject: string; text: string }

/** Sends mails; resolves once a mail is on its way. */
export type Mailer = { send(mail: Mail): Promise<void> }

/** The transport where nothing delivers mail: whoever runs the service reads them in its log, links included. */
export function createLogMailer(logger: Logger): Mailer {
  return { send: async mail => logger.info({ mail }, 'mail') }
}
