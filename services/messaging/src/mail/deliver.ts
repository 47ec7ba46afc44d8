import type { Context } from '../context.ts'
import { bounceDomainOf, type Domain } from '../domains/domain.model.ts'
import { mailgunAccount } from '../provider/provider-of.ts'
import { accessTokenOf } from '../senders/account-tokens.ts'
import { secretPlace } from '../senders/secret-places.ts'
import type { Sender } from '../senders/sender.model.ts'
import { compose, type Message, type Payload } from './compose.ts'
import { DeliveryError, heldBack } from './delivery-error.ts'
import { sendToExchangers } from './exchangers.ts'
import type { Mail } from './mail.model.ts'
import { storeAsFile } from './mail-folder.ts'
import { sendByMailgun } from './mailgun-messages.ts'
import { signingKey } from './signing-key.ts'
import { type SendControl, type SmtpServer, smtpServerOf } from './smtp.ts'

/** Servers configured by the operator may be in private networks. */
const trusted = { allowPrivate: true }

/** A mail, which bounces are counted for; replies go to the sender's address for them, unless it names another. */
export type Outgoing = Omit<Message, 'from' | 'replyTo' | 'envelopeFrom'> & {
  mail: Pick<Mail, '_id' | 'organization'>
  replyTo?: string | null
}

/** Delivers one mail and returns the server's reply. @throws {DeliveryError} */
export type Deliver = (message: Outgoing, control?: SendControl) => Promise<string>

/** Returns how to deliver mails of a sender, or those of the installation, for the next few mails. */
export async function openDelivery(context: Context, organizationId: string, sender: Sender | null): Promise<Deliver> {
  const from = sender ? { name: sender.name, address: sender.email } : context.config.MAIL_FROM
  const domain = sender && (await context.collections.of(organizationId).domains.findOne({ domain: sender.domain }))
  const isOurs = domain !== null && sender?.delivery !== 'oauth' // connected accounts sign themselves
  const key = isOurs ? signingKey(context, domain) : undefined
  const bounceDomain = isOurs && context.config.BOUNCE_SMTP_PORT !== undefined ? bounceDomainOf(domain) : undefined
  return async ({ mail, ...message }, control = {}) => {
    const envelopeFrom = bounceDomain && context.links.bounceAddress(mail, bounceDomain)
    const replyTo = message.replyTo ?? sender?.replyTo ?? null
    const payload = await compose({ ...message, from, replyTo, envelopeFrom }, key)
    return handOver(context, payload, { sender, domain, control })
  }
}

/**
 * Delivers a mail through its sender, or as the installation's own; returns the server's reply.
 * @throws {DeliveryError}
 */
export async function deliver(
  context: Context,
  organizationId: string,
  sender: Sender | null,
  message: Outgoing,
  control?: SendControl,
): Promise<string> {
  return (await openDelivery(context, organizationId, sender))(message, control)
}

type Way = { sender: Sender | null; domain: Domain | null; control: SendControl }

function handOver(context: Context, payload: Payload, { sender, domain, control }: Way): Promise<string> {
  switch (sender?.delivery) {
    case undefined:
      return byInstallation({ ...context, smtp: context.accountSmtp }, payload, control)
    case 'hosted':
      return byInstallation(context, payload, control)
    case 'provider':
      return byProvider(context, payload, domain, control)
    case 'smtp':
      return context.smtp.send(ownServer(context, sender), payload, context.addressPolicy, control)
    case 'oauth':
      return byAccount(context, payload, sender, control)
  }
}

/** Delivers through the installation's mail server, or into a folder for development. */
function byInstallation({ config, smtp }: Context, payload: Payload, control: SendControl): Promise<string> {
  if (config.SMTP_URL !== undefined) return smtp.send(smtpServerOf(config.SMTP_URL), payload, trusted, control)
  if (config.MAIL_DIR !== undefined) return storeAsFile(config.MAIL_DIR, payload)
  throw new DeliveryError('failed', 'there is no mail server: SMTP_URL is not set')
}

/**
 * Delivers through the provider of the domain: Mailgun, or this installation, which without a server of its own sends
 * to the recipient's mail exchangers.
 */
async function byProvider(
  context: Context,
  payload: Payload,
  domain: Domain | null,
  control: SendControl,
): Promise<string> {
  if (!domain) throw new DeliveryError('failed', 'the domain no longer exists')
  if (domain.provider === 'mailgun') return byMailgun(context, payload, domain, control)
  const { SMTP_URL, MAIL_DIR } = context.config
  const hasServer = SMTP_URL !== undefined || MAIL_DIR !== undefined
  return hasServer ? byInstallation(context, payload, control) : sendToExchangers(context, payload, control)
}

async function byMailgun(
  context: Context,
  payload: Payload,
  { organization, domain }: Domain,
  { confirm }: SendControl,
): Promise<string> {
  const account = await mailgunAccount(context, organization)
  if (!account) throw new DeliveryError('failed', 'the organization has left the provider that the domain was made at')
  await confirm?.().catch(error => {
    throw heldBack(error)
  })
  return sendByMailgun(account, domain, payload)
}

function ownServer({ secrets }: Context, sender: Sender): SmtpServer {
  const { smtp, smtpPassword } = sender
  if (!smtp) throw new DeliveryError('failed', 'the sender has no mail server')
  const { host, port, secure, username: user } = smtp
  if (user === null || smtpPassword === null) return { host, port, secure }
  return { host, port, secure, auth: { user, pass: secrets.open(smtpPassword, secretPlace.password(sender)) } }
}

async function byAccount(context: Context, payload: Payload, sender: Sender, control: SendControl): Promise<string> {
  const { provider, user, accessToken } = await accessTokenOf(context, sender)
  const { GOOGLE_SMTP_URL, MICROSOFT_SMTP_URL } = context.config
  const server = smtpServerOf(provider === 'google' ? GOOGLE_SMTP_URL : MICROSOFT_SMTP_URL)
  return context.smtp.send({ ...server, auth: { user, accessToken } }, payload, trusted, control)
}
