import { AppError, type HttpBody } from '@rollcall/contract'
import type { Recipient } from '@rollcall/protos/gen/audience-v1.ts'
import type { Mailing, MailingLink, MailingPoint } from '@rollcall/protos/gen/messaging-v1.ts'
import type { ListOfRequest } from '@rollcall/protos/gen/types.ts'
import type { Client } from '@rollcall/rpc'
import type { As } from './calls.ts'
import type { Campaign } from './campaign.model.ts'
import type { CampaignContent } from './content-of.ts'

/** A sender, as mails show it. */
export type ShownSender = { name: string; email: string }

/** What a campaign sends, and the name of its organization. */
export type SentContent = CampaignContent & { organizationName: string }

/** The sending side of campaigns, in messaging. */
export type Sending = {
  /** Returns the sender that the caller may use for a campaign now. @throws {AppError} sender.*, mailing.unsafe_links, organization.unverified */
  checkSender(sender: Campaign['sender'], as: As): Promise<ShownSender>
  /** Returns the sender of a campaign if the caller may use it, otherwise a sample. */
  senderToShow(sender: Campaign['sender'], as: As): Promise<ShownSender>
  /** Checks that the caller can see a sender, even if it cannot send now. @throws {AppError} sender.unknown */
  requireKnownSender(sender: Campaign['sender'], as: As): Promise<void>
  /** Stores what is to be sent, unless a newer revision of the campaign is stored. */
  put(campaign: Campaign, content: SentContent, as: As): Promise<void>
  /** Adds recipients, each once. */
  queue(campaign: Campaign, recipients: readonly Recipient[], as: As): Promise<void>
  /** Declares the set of recipients whole. */
  close(campaign: Campaign, as: As): Promise<void>
  setState(campaign: Pick<Campaign, '_id'>, state: 'sending' | 'paused' | 'cancelled', as: As): Promise<void>
  /** Lets failed recipients wait again, and returns how many. */
  retryFailed(campaign: Campaign, as: As): Promise<number>
  /** Sends a mail to some addresses as a test. @throws {AppError} sender.*, contact.blocked, request.rate_limited */
  sendTest(sender: Campaign['sender'], to: string[], content: CampaignContent, variables: object, as: As): Promise<void>
  /** Streams a page of recipients. */
  recipients(request: ListOfRequest, as: As): AsyncIterable<HttpBody>
  /** Streams all recipients as CSV. */
  export(campaign: Campaign, as: As): AsyncIterable<HttpBody>
  series(campaign: Campaign, interval: 'hour' | 'day', as: As): Promise<MailingPoint[]>
  links(campaign: Campaign, as: As): Promise<MailingLink[]>
  get(campaign: Campaign, as: As): Promise<Mailing & { counts: Campaign['counts'] }>
}

/** What previews show of a sender that cannot be used. */
export const SAMPLE_SENDER: ShownSender = { name: 'Sender', email: 'sender@example.com' }

/** Creates the sending side. */
export function createSending(mailings: Client<'rollcall.messaging.v1.Mailings'>): Sending {
  const checkSender: Sending['checkSender'] = async (sender, as) => {
    const { name, email } = await mailings.checkSender(senderFor(sender, as), as)
    return { name, email }
  }
  return {
    checkSender,
    senderToShow: (sender, as) =>
      checkSender(sender, as).catch(error => {
        if (isRefusal(error)) return SAMPLE_SENDER
        throw error
      }),
    async requireKnownSender(sender, as) {
      await checkSender(sender, as).catch(error => {
        if (!isRefusal(error) || error.code === 'sender.unknown') throw error
      })
    },
    async put({ _id, name, sender, ratePerMinute, track, revision }, content, as) {
      await mailings.putMailing(
        {
          id: String(_id),
          ...senderFor(sender, as),
          ...partsOf(content),
          ...(ratePerMinute !== null && { ratePerMinute }),
          ...(revision !== undefined && { revision }),
          track,
          campaignName: name,
          organizationName: content.organizationName,
        },
        as,
      )
    },
    async queue({ _id }, recipients, as) {
      const items = recipients.map(({ contactId = '', email = '' }) => ({ contactId, email }))
      await mailings.queueRecipients({ mailingId: String(_id), recipients: items }, as)
    },
    async close({ _id }, as) {
      await mailings.closeMailing({ id: String(_id) }, as)
    },
    async setState({ _id }, state, as) {
      await mailings.setMailingState({ id: String(_id), state }, as)
    },
    retryFailed: async ({ _id }, as) => (await mailings.retryFailed({ id: String(_id) }, as)).count,
    async sendTest(sender, to, content, variables, as) {
      const request = {
        ...(sender && { senderId: String(sender) }),
        to,
        ...partsOf(content),
        variables: { ...variables },
      }
      await mailings.sendTest(request, as)
    },
    recipients: (request, as) => mailings.listRecipients(request, as),
    export: ({ _id }, as) => mailings.exportRecipients({ id: String(_id) }, as),
    series: async ({ _id }, interval, as) => (await mailings.seriesOf({ id: String(_id), interval }, as)).points,
    links: async ({ _id }, as) => (await mailings.linksOf({ id: String(_id) }, as)).links,
    async get({ _id }, as) {
      const { counts, ...mailing } = await mailings.getMailing({ id: String(_id) }, as)
      return { ...mailing, counts: counts as Campaign['counts'] }
    },
  }
}

/** Returns the sender of a campaign and the user who must be allowed to use it, as calls take them. */
function senderFor(sender: Campaign['sender'], { userId }: As) {
  return { ...(sender && { senderId: String(sender) }), ...(userId !== undefined && { userId }) }
}

/** Returns the parts of a mail that it has, as calls take them. */
function partsOf({ subject, preheader, html, text }: CampaignContent) {
  return { subject, ...(preheader && { preheader }), ...(html && { html }), ...(text && { text }) }
}

/** Whether an error is a refusal of the sender, not a failure of a service. */
function isRefusal(error: unknown): error is AppError {
  return error instanceof AppError && error.code !== 'service.unavailable'
}
