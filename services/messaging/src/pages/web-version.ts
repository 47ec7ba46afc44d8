import { AppError } from '@rollcall/contract'
import { html, renderPage } from '@rollcall/pages'
import type { PageRequest, PageResponse } from '@rollcall/protos/gen/types.ts'
import { compile } from '@rollcall/templates'
import { Types } from 'mongoose'
import type { Context } from '../context.ts'
import type { WebVersionRef } from './mail-links.ts'

/** Content of customers: it may show images and its own styles, but runs and submits nothing, in an origin of its own. */
const CONTENT_POLICY = [
  "default-src 'none'",
  'img-src http: https: data:',
  "style-src 'unsafe-inline' https:",
  'font-src https: data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  'sandbox allow-popups allow-popups-to-escape-sandbox allow-top-navigation-by-user-activation',
].join('; ')

const testText = {
  en: { title: 'Web version', text: 'This mail was a test. It has no web version.' },
  de: { title: 'Webversion', text: 'Diese E-Mail war ein Test. Sie hat keine Webversion.' },
}

/** Shows the mail of a campaign as its contact would get it now. */
export async function showWebVersion(context: Context, { key, language }: PageRequest): Promise<PageResponse> {
  const version = context.links.readWebVersion(key)
  if (!version) throw new AppError('page.not_found')
  if (version.campaignId === null || version.contactId === null) {
    const { title, text } = testText[language]
    return renderPage({ language, title, body: html`<p>${text}</p>` })
  }
  const mail = await rendered(context, { ...version, campaignId: version.campaignId, contactId: version.contactId })
  if (mail.html === null)
    return renderPage({ language, title: mail.subject, body: html`<p class="text">${mail.text}</p>` })
  const data = Buffer.from(mail.html)
  return { status: 200, contentType: 'text/html; charset=utf-8', data, contentSecurityPolicy: CONTENT_POLICY }
}

type Recipient = WebVersionRef & { campaignId: string; contactId: string }

/** @throws {AppError} page.not_found if the mailing is gone, or cannot be rendered any more */
async function rendered(context: Context, { organizationId, campaignId, contactId, messageId }: Recipient) {
  const { mailings, senders } = context.collections.of(organizationId)
  const mailing = await mailings.findOne({ _id: campaignId })
  if (!mailing) throw new AppError('page.not_found')
  const [recipient] = await context.checkRecipients(organizationId, [{ contactId }], false)
  const sender = await senders.findOne({ _id: mailing.sender })
  const mail = {
    _id: new Types.ObjectId(messageId),
    organization: mailing.organization,
    contact: contactId,
    campaign: mailing._id,
  }
  try {
    return compile(mailing).render({
      contact: recipient!.variables,
      campaign: { name: mailing.campaignName },
      organization: { name: mailing.organizationName },
      sender: { name: sender?.name ?? '', email: sender?.email ?? '' },
      unsubscribe_url: context.links.unsubscribeUrl(mail),
      web_version_url: context.links.webVersionUrl(mail),
    })
  } catch (cause) {
    throw new AppError('page.not_found', {}, { cause })
  }
}
