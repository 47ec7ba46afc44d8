import { type HttpBody, json, updated } from '@rollcall/contract'
import type { PreviewCampaignRequest, TestCampaignRequest } from '@rollcall/protos/gen/campaigns-v1.ts'
import type { Updated } from '@rollcall/protos/gen/types.ts'
import { actorOf, type Call } from '@rollcall/rpc'
import { addEvents, event } from '@rollcall/store'
import { contactToShow } from '../contact-to-show.ts'
import type { Context } from '../context.ts'
import { renderParts } from '../templates/content.ts'
import { callsOf } from './calls.ts'
import { eventCampaign } from './campaign.model.ts'
import { refusing } from './check-campaign.ts'
import { contentOf } from './content-of.ts'
import { settingsOf } from './settings.ts'
import { variablesFor } from './variables.ts'

/** Renders a campaign for one contact. */
export async function previewCampaign(
  context: Context,
  { id, contactId, ...content }: PreviewCampaignRequest,
  call: Call,
): Promise<HttpBody> {
  const stored = await context.collections.of(call.caller.organizationId).campaigns.get(id, 'campaign')
  const unsaved = settingsOf(content)
  const campaign = { ...stored, ...unsaved, ...(Object.keys(unsaved).length > 0 && { content: null }) }
  const parts = await contentOf(context, campaign)
  const { asUser, asService } = callsOf(call)
  const [contact, { name: organization }, sender] = await Promise.all([
    contactToShow(context, contactId, asService),
    context.organizations.findOrganization({}, asService),
    context.sending.senderToShow(campaign.sender, asUser),
  ])
  return json(renderParts(parts, variablesFor(campaign, { contact, organization, sender })))
}

/** Sends a campaign to some addresses as a test. */
export async function testCampaign(context: Context, { id, to }: TestCampaignRequest, call: Call): Promise<Updated> {
  const campaign = await context.collections.of(call.caller.organizationId).campaigns.get(id, 'campaign')
  const content = await contentOf(context, campaign)
  const { asUser, asService } = callsOf(call)
  const sender = await refusing(() => context.sending.checkSender(campaign.sender, asUser))
  const contact = await contactToShow(context, undefined, asService)
  const { name: organization } = await context.organizations.findOrganization({}, asService)
  const variables = variablesFor(campaign, { contact, organization, sender })
  await refusing(async () => renderParts(content, variables))
  const marked = { ...content, subject: `[Test] ${content.subject}` }
  const addresses = [...new Set(to)]
  await context.sending.sendTest(campaign.sender, addresses, marked, variables, asUser)
  const data = { campaign: eventCampaign(campaign), recipients: addresses.length, actor: actorOf(call.caller) }
  await context.store.transaction(tx => addEvents(tx, [event('campaign.tested', campaign, data)]))
  return updated()
}
