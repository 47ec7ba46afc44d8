import { isEmail } from '@rollcall/contract'
import { flag, milliseconds, parsedBy, port, urlOf, whole } from '@rollcall/runtime'
import { z } from 'zod'

/** Settings of sending mail. */
export const mailConfig = {
  /** Server for the installation's own mail, and for that of hosted senders and self-hosted domains. */
  SMTP_URL: urlOf('smtp', 'smtps').optional(),
  /** Folder to store such mail in if SMTP_URL is not set, for development. */
  MAIL_DIR: z.string().min(1).optional(),
  /** Sender of the installation's own mail. */
  MAIL_FROM: parsedBy(parseMailbox, 'an address, or a name and an address in angle brackets').default({
    name: 'Rollcall',
    address: 'no-reply@localhost.localdomain',
  }),
  /** Allows senders' mail servers in private networks and at any port, for tests and local servers. */
  SMTP_ALLOW_PRIVATE: flag().default(false),
  /** Port for bounces and complaints over SMTP. Without it nothing listens, and mail keeps its sender's address for them. */
  BOUNCE_SMTP_PORT: port().optional(),
  /** Delay after the first temporary failure. Each further delay is four times as long, at most six hours. */
  MAIL_RETRY_MS: milliseconds().default(30_000),
  /** Attempts before a mail counts as failed. */
  MAIL_ATTEMPTS: whole(1, 100).default(10),
  /** Maximum mails per hour that users of one organization can cause: invitations, new accounts, tests of senders. */
  MAIL_PER_ORGANIZATION_HOUR: whole(1, 1_000_000).default(500),
  /**
   * Maximum such mails per address and day, over all organizations. Codes and password links have the same limit each,
   * notices of a changed account have it per organization.
   */
  MAIL_PER_ADDRESS_DAY: whole(1, 1_000_000).default(50),
  /** Maximum messages of one organization to mail servers in any 60 seconds, and per day (UTC). 0: no limit. */
  MAIL_PER_MINUTE: whole(0, 10_000_000).default(6000),
  MAIL_PER_DAY: whole(0, 1_000_000_000).default(500_000),
  /** Maximum messages of one organization that wait to be sent, without those of campaigns. */
  MESSAGES_WAITING_PER_ORGANIZATION: whole(1, 1_000_000).default(10_000),
  /** OpenID providers of senders' mail accounts, and our client there. Without a client id they are not offered. */
  GOOGLE_ISSUER: urlOf('http', 'https').default('https://accounts.google.com'),
  GOOGLE_CLIENT_ID: z.string().min(1).optional(),
  GOOGLE_CLIENT_SECRET: z.string().min(1).optional(),
  GOOGLE_SMTP_URL: urlOf('smtp', 'smtps').default('smtps://smtp.gmail.com:465'),
  MICROSOFT_ISSUER: urlOf('http', 'https').default('https://login.microsoftonline.com/common/v2.0'),
  MICROSOFT_CLIENT_ID: z.string().min(1).optional(),
  MICROSOFT_CLIENT_SECRET: z.string().min(1).optional(),
  MICROSOFT_SMTP_URL: urlOf('smtp', 'smtps').default('smtp://smtp.office365.com:587'),
}

/** Parses `Name <address>` or an address. */
function parseMailbox(text: string): { name: string; address: string } {
  const [, name = '', bracketed] = /^\s*"?(.*?)"?\s*<([^<>]+)>\s*$/.exec(text) ?? []
  const address = bracketed ?? text.trim()
  if (!isEmail(address)) throw new RangeError('not an email address')
  return { name, address }
}
