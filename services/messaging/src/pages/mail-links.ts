import { bytesOfIds, createSignedTokens, idsOfBytes, type SignedTokens } from '@rollcall/credentials'
import type { Config } from '../config.ts'
import type { Mail } from '../mail/mail.model.ts'
import { createBounceAddresses } from '../returns/bounce-address.ts'

/** A mail that links are made for. The links of one without a contact, such as a test, change nothing. */
type LinkedMail = Pick<Mail, '_id' | 'organization' | 'contact' | 'campaign'>

/** Which message a link is in. */
export type MessageRef = { organizationId: string; messageId: string }
/** The recipient whose preferences a link shows. Messages expire, so it names the contact, too; null: it was a test. */
export type RecipientRef = MessageRef & { contactId: string | null }
/** A recipient's mail of a campaign; no campaign: the mail was a test. */
export type WebVersionRef = RecipientRef & { campaignId: string | null }
/** A counted link of a message. */
export type LinkRef = MessageRef & { url: string }

/** Makes and reads the public links of mails. What is read from another token is undefined. */
export type MailLinks = {
  unsubscribeUrl(mail: LinkedMail): string
  readUnsubscribe(token: string): RecipientRef | undefined
  webVersionUrl(mail: LinkedMail): string
  readWebVersion(token: string): WebVersionRef | undefined
  /** URL of the image that counts opens. */
  openUrl(mail: LinkedMail): string
  readOpen(token: string): MessageRef | undefined
  /** URL that counts a click and leads to another one. The token holds that, so the link works as long as its key. */
  clickUrl(mail: LinkedMail, url: string): string
  readClick(token: string): LinkRef | undefined
  /** Address that bounces of a message go to. Servers may change its case. */
  bounceAddress(mail: Pick<Mail, '_id' | 'organization'>, domain: string): string
  /** URL that an organization's mail provider reports to. */
  reportUrl(organizationId: string): string
  /** Whether a key in such a URL is that of the organization. */
  isReportKey(organizationId: string, key: string): boolean
  /** How the links of a recipient's own begin, which are never counted: preferences and web version. */
  ownPrefixes: readonly string[]
}

/** Stands for a contact or campaign that a test does not have. */
const NONE = '0'.repeat(24)

/** Creates the links of an installation, whose tokens are signed with the first of its LINK_KEYS. */
export function createMailLinks({ LINK_KEYS, PUBLIC_URL }: Pick<Config, 'LINK_KEYS' | 'PUBLIC_URL'>): MailLinks {
  const base = PUBLIC_URL.replace(/\/$/, '')
  const unsubscribe = createSignedTokens(LINK_KEYS, 'unsubscribe')
  const webVersion = createSignedTokens(LINK_KEYS, 'web-version')
  const open = createSignedTokens(LINK_KEYS, 'open')
  const click = createSignedTokens(LINK_KEYS, 'click')
  const report = createSignedTokens(LINK_KEYS, 'provider-webhook')
  const bounces = createBounceAddresses(LINK_KEYS)
  const unsubscribePrefix = `${base}/u/`
  const webVersionPrefix = `${base}/v/`
  return {
    ownPrefixes: [unsubscribePrefix, webVersionPrefix],
    unsubscribeUrl: mail => unsubscribePrefix + unsubscribe.sign(recipientIds(mail)),
    readUnsubscribe: token => readRecipient(unsubscribe, token),
    webVersionUrl: mail => webVersionPrefix + webVersion.sign(webVersionIds(mail)),
    readWebVersion(token) {
      const content = webVersion.verify(token)
      return content && { ...recipientOf(content), campaignId: orNull(idsOfBytes(content, 4).ids[3]) }
    },
    openUrl: mail => `${base}/t/o/${open.sign(messageIds(mail))}.gif`,
    readOpen: token => readMessage(open, token)?.message,
    clickUrl: (mail, url) => `${base}/t/c/${click.sign(Buffer.concat([messageIds(mail), Buffer.from(url)]))}`,
    bounceAddress: ({ organization, _id }, domain) =>
      bounces.addressOf({ organizationId: String(organization), messageId: String(_id) }, domain),
    reportUrl: organizationId =>
      `${base}/api/emails/provider/webhook/${organizationId}/${report.sign(bytesOfIds(organizationId))}`,
    isReportKey: (organizationId, key) => report.verify(key)?.toString('hex') === organizationId,
    readClick(token) {
      const read = readMessage(click, token)
      return read && { ...read.message, url: read.rest.toString() }
    },
  }
}

function recipientIds({ organization, contact, _id }: LinkedMail): Buffer {
  return bytesOfIds(String(organization), contact ?? NONE, String(_id))
}

function messageIds({ organization, _id }: LinkedMail): Buffer {
  return bytesOfIds(String(organization), String(_id))
}

function webVersionIds(mail: LinkedMail): Buffer {
  return Buffer.concat([recipientIds(mail), bytesOfIds(mail.campaign ? String(mail.campaign) : NONE)])
}

function readRecipient(tokens: SignedTokens, token: string): RecipientRef | undefined {
  const content = tokens.verify(token)
  return content && recipientOf(content)
}

function recipientOf(content: Buffer): RecipientRef {
  const [organizationId = '', contactId, messageId = ''] = idsOfBytes(content, 3).ids
  return { organizationId, contactId: orNull(contactId), messageId }
}

function orNull(id = NONE): string | null {
  return id === NONE ? null : id
}

function readMessage(tokens: SignedTokens, token: string): { message: MessageRef; rest: Buffer } | undefined {
  const content = tokens.verify(token)
  if (!content) return undefined
  const { ids, rest } = idsOfBytes(content, 2)
  const [organizationId = '', messageId = ''] = ids
  return { message: { organizationId, messageId }, rest }
}
