import { AppError } from '@rollcall/contract'
import type { CountRecipientsResponse } from '@rollcall/protos/gen/audience-v1.ts'
import type { AudienceCounts, CampaignCheck, CampaignReview } from '@rollcall/protos/gen/campaigns-v1.ts'
import type { CallContext } from '@rollcall/rpc'
import { hasUnsubscribeLink, type Mail } from '@rollcall/templates'
import type { Context } from '../context.ts'
import { renderParts } from '../templates/content.ts'
import type { Calls } from './calls.ts'
import type { Campaign } from './campaign.model.ts'
import { contentOf, notReady } from './content-of.ts'
import { selectionOf } from './selection-of.ts'
import { SAMPLE_SENDER, type SentContent } from './sending.ts'
import { type Shown, variablesFor } from './variables.ts'

/** How many contacts a campaign is rendered for before it starts. */
const TRIED_CONTACTS = 3

type Check = CampaignCheck['check']
/** What a check found, or why it was refused. */
type Result<Value> = { value: Value } | { refusal: AppError }

/**
 * Checks everything that a campaign needs to be sent, in this order: the sender, the audience, the content, how it renders
 * for the first contacts, and the unsubscribe link.
 * @returns the content, as it will be sent
 * @throws {AppError} campaign.not_ready naming the first failure
 */
export async function checkCampaign(context: Context, campaign: Campaign, calls: Calls): Promise<SentContent> {
  const { results, organizationName } = await examine(context, campaign, calls)
  for (const result of Object.values(results)) if (result && 'refusal' in result) throw result.refusal
  return { ...valueIn(results.content)!, organizationName }
}

/** Returns the state of each check, and how many contacts the campaign reaches. */
export async function reviewCampaign(context: Context, campaign: Campaign, calls: Calls): Promise<CampaignReview> {
  const [{ results }, counted] = await Promise.all([
    examine(context, campaign, calls),
    settle(() => context.recipients.countRecipients(selectionOf(campaign), calls.asService)),
  ])
  const checks = (Object.entries(results) as [Check, Result<unknown> | undefined][]).map(([check, result]) =>
    result && 'refusal' in result
      ? { check, state: 'failed' as const, reason: result.refusal.message }
      : { check, state: result ? ('ok' as const) : ('open' as const) },
  )
  const audience = valueIn(counted)
  return {
    ready: checks.every(({ state }) => state === 'ok'),
    checks,
    ...(audience && { audience: countsOf(audience) }),
  }
}

/** Returns the counts of an audience as clients see them. */
export function countsOf({ reachable, ...leftOut }: CountRecipientsResponse): AudienceCounts {
  return { recipients: reachable, ...leftOut }
}

/** Makes the checks, in their order. One that depends on a failed one has no result. */
async function examine(context: Context, campaign: Campaign, { asUser, asService }: Calls) {
  const [sender, audience, content, { name: organizationName }] = await Promise.all([
    settle(() => context.sending.checkSender(campaign.sender, asUser)),
    settle(() => firstContacts(context, campaign, asService)),
    settle(() => contentOf(context, campaign)),
    context.organizations.findOrganization({}, asService),
  ])
  const contacts = valueIn(audience)
  const parts = valueIn(content)
  const shown = { organization: organizationName, sender: valueIn(sender) ?? SAMPLE_SENDER }
  const rendering =
    contacts &&
    parts &&
    (await settle(async () =>
      contacts.map(contact => {
        const variables = variablesFor(campaign, { contact, ...shown })
        return { mail: renderParts(parts, variables), url: variables.unsubscribe_url }
      }),
    ))
  const mails = valueIn(rendering)
  const unsubscribe = mails && (await settle(async () => mails.forEach(requireLink)))
  return { results: { sender, audience, content, rendering, unsubscribe }, organizationName }
}

async function firstContacts(context: Context, campaign: Campaign, as: CallContext): Promise<Shown['contact'][]> {
  const request = { selection: selectionOf(campaign), reachableOnly: true, afterPosition: 0, limit: TRIED_CONTACTS }
  const { recipients } = await context.recipients.takeRecipients(request, as)
  if (recipients.length === 0) throw notReady('no contact is left after exclusions and opt-outs')
  const checked = await context.recipients.checkRecipients({ recipients, isCampaign: true }, as)
  return checked.recipients.map(({ variables }) => variables)
}

function requireLink({ mail, url }: { mail: Mail; url: string }): void {
  if (hasUnsubscribeLink(mail, url)) return
  const part = mail.html !== null && !mail.html.includes(url) ? 'html' : 'text'
  throw notReady(`${part}: the unsubscribe link is missing, add {{ unsubscribe_url }}`)
}

function valueIn<Value>(result: Result<Value> | undefined): Value | undefined {
  return result && 'value' in result ? result.value : undefined
}

/** Runs a check. Failures of services pass. */
async function settle<Value>(run: () => Promise<Value>): Promise<Result<Value>> {
  try {
    return { value: await refusing(run) }
  } catch (error) {
    if (error instanceof AppError && error.code === 'campaign.not_ready') return { refusal: error }
    throw error
  }
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
