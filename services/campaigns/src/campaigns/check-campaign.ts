import { AppError } from '@rollcall/contract'
import type { CallContext } from '@rollcall/rpc'
import { hasUnsubscribeLink, type Mail } from '@rollcall/templates'
import type { Context } from '../context.ts'
import { renderParts } from '../templates/content.ts'
import type { Calls } from './calls.ts'
import type { Campaign } from './campaign.model.ts'
import { contentOf, notReady } from './content-of.ts'
import { selectionOf } from './selection-of.ts'
import type { SentContent } from './sending.ts'
import { type Shown, variablesFor } from './variables.ts'

/** How many contacts a campaign is rendered for before it starts. */
const TRIED_CONTACTS = 3

/**
 * Checks everything that a campaign needs to be sent, in this order: the sender, the audience, the content, how it renders
 * for the first contacts, and the unsubscribe link.
 * @returns the content, as it will be sent
 * @throws {AppError} campaign.not_ready naming the first failure
 */
export async function checkCampaign(
  context: Context,
  campaign: Campaign,
  { asUser, asService }: Calls,
): Promise<SentContent> {
  const sender = await refusing(() => context.sending.checkSender(campaign.sender, asUser))
  const contacts = await firstContacts(context, campaign, asService)
  const content = await contentOf(context, campaign)
  const { name: organization } = await context.organizations.findOrganization({}, asService)
  for (const contact of contacts) {
    const variables = variablesFor(campaign, { contact, organization, sender })
    const mail = await refusing(async () => renderParts(content, variables))
    if (!hasUnsubscribeLink(mail, variables.unsubscribe_url)) throw missingLink(mail, variables.unsubscribe_url)
  }
  return { ...content, organizationName: organization }
}

async function firstContacts(context: Context, campaign: Campaign, as: CallContext): Promise<Shown['contact'][]> {
  const request = { selection: selectionOf(campaign), reachableOnly: true, afterPosition: 0, limit: TRIED_CONTACTS }
  const { recipients } = await refusing(() => context.recipients.takeRecipients(request, as))
  if (recipients.length === 0) throw notReady('no contact is left after exclusions and opt-outs')
  const checked = await context.recipients.checkRecipients({ recipients, isCampaign: true }, as)
  return checked.recipients.map(({ variables }) => variables)
}

function missingLink({ html }: Mail, url: string): AppError {
  const part = html !== null && !html.includes(url) ? 'html' : 'text'
  return notReady(`${part}: the unsubscribe link is missing, add {{ unsubscribe_url }}`)
}

/** Names a refusal of what the campaign refers to as the reason; lets failures of services pass. */
export async function refusing<Result>(run: () => Promise<Result>): Promise<Result> {
  try {
    return await run()
  } catch (error) {
    if (!(error instanceof AppError) || error.code === 'service.unavailable') throw error
    throw notReady(error.message)
  }
}
