import { isEmail } from '@rollcall/contract'
import { flag, milliseconds, parsedBy, urlOf, whole } from '@rollcall/runtime'
import { z } from 'zod'

/** The settings of sending mail. */
export const mailConfig = {
  /** Server that takes the installation's own mail, that of hosted senders and of self-hosted domains. */
  SMTP_URL: urlOf('smtp', 'smtps').optional(),
  /** Folder that such mail is kept in where there is no SMTP_URL, for people to look at. */
  MAIL_DIR: z.string().min(1).optional(),
  /** Whom the installation's own mail is from. */
  MAIL_FROM: parsedBy(parseMailbox, 'an address, or a name and an address in angle brackets').default({
    name: 'Rollcall',
    address: 'no-reply@localhost.localdomain',
  }),
  /** Lets senders name mail servers in private networks, at any port: for tests, and for servers next door. */
  SMTP_ALLOW_PRIVATE: flag().default(false),
  /** From the first attempt that fails for a while to the second; each further wait is four times as long, six hours at most. */
  MAIL_RETRY_MS: milliseconds().default(30_000),
  /** Attempts before a mail counts as failed. */
  MAIL_ATTEMPTS: whole(1, 100).default(10),
  /** Mail of the installation (invitations, new accounts) and tests of senders that the people of one organization may cause. */
  MAIL_PER_ORGANIZATION_HOUR: whole(1, 1_000_000).default(500),
  /** Such mail to one address, over all organizations; as many codes and as many password links besides. */
  MAIL_PER_ADDRESS_DAY: whole(1, 1_000_000).default(50),
  /** OpenID providers of the mail accounts that senders may use, and who we are there; without an id they are not offered. */
  GOOGLE_ISSUER: urlOf('http', 'https').default('https://accounts.google.com'),
  GOOGLE_CLIENT_ID: z.string().min(1).optional(),
  GOOGLE_CLIENT_SECRET: z.string().min(1).optional(),
  GOOGLE_SMTP_URL: urlOf('smtp', 'smtps').default('smtps://smtp.gmail.com:465'),
  MICROSOFT_ISSUER: urlOf('http', 'https').default('https://login.microsoftonline.com/common/v2.0'),
  MICROSOFT_CLIENT_ID: z.string().min(1).optional(),
  MICROSOFT_CLIENT_SECRET: z.string().min(1).optional(),
  MICROSOFT_SMTP_URL: urlOf('smtp', 'smtps').default('smtp://smtp.office365.com:587'),
}

/** Reads `Name <address>` or an address alone. */
function parseMailbox(text: string): { name: string; address: string } {
  const [, name = '', bracketed] = /^\s*"?(.*?)"?\s*<([^<>]+)>\s*$/.exec(text) ?? []
  const address = bracketed ?? text.trim()
  if (!isEmail(address)) throw new RangeError('not an email address')
  return { name, address }
}
