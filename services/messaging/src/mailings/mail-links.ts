import { createSignedTokens, type SignedTokens } from '@rollcall/credentials'
import { Types } from 'mongoose'
import type { Config } from '../config.ts'
import type { Mail } from '../mail/mail.model.ts'

/** What the token of a public link names. Messages expire, so that it names the contact, too. */
export type LinkSubject = { organization: string; contact: string; message: string }

/** The public links in a mail of a campaign. */
export type MailLinks = {
  unsubscribeUrl(mail: LinkedMail): string
  webVersionUrl(mail: LinkedMail): string
}

type LinkedMail = Pick<Mail, '_id' | 'organization' | 'contact'>

const ID_BYTES = 12

/** Creates the links of an installation. */
export function createMailLinks({ SECRET_KEYS, PUBLIC_URL }: Pick<Config, 'SECRET_KEYS' | 'PUBLIC_URL'>): MailLinks {
  const base = PUBLIC_URL.replace(/\/$/, '')
  const unsubscribe = createSignedTokens(SECRET_KEYS, 'unsubscribe')
  const webVersion = createSignedTokens(SECRET_KEYS, 'web-version')
  return {
    unsubscribeUrl: mail => `${base}/u/${signSubject(unsubscribe, mail)}`,
    webVersionUrl: mail => `${base}/v/${signSubject(webVersion, mail)}`,
  }
}

function signSubject(tokens: SignedTokens, { organization, contact, _id }: LinkedMail): string {
  const ids = [String(organization), contact ?? '0'.repeat(2 * ID_BYTES), String(_id)]
  return tokens.sign(Buffer.concat(ids.map(id => Buffer.from(id, 'hex'))))
}

/** Returns what a token names; undefined if it was not signed here. */
export function readSubject(tokens: SignedTokens, token: string): LinkSubject | undefined {
  const bytes = tokens.verify(token)
  if (bytes?.length !== 3 * ID_BYTES) return undefined
  const idAt = (index: number) => String(new Types.ObjectId(bytes.subarray(index * ID_BYTES, (index + 1) * ID_BYTES)))
  return { organization: idAt(0), contact: idAt(1), message: idAt(2) }
}
