import { AppError, type HttpBody, json, updated } from '@rollcall/contract'
import type { CreateCampaignRequest, UpdateCampaignRequest } from '@rollcall/protos/gen/campaigns-v1.ts'
import type { Updated } from '@rollcall/protos/gen/types.ts'
import { actorOf, type Call, type Handlers } from '@rollcall/rpc'
import { addEvents, changedFields, changesBetween, type Draft, event, requireRoom, runList } from '@rollcall/store'
import type { Context } from '../context.ts'
import { requireParsable, withoutContent } from '../templates/content.ts'
import { callsOf, userOf } from './calls.ts'
import { type Campaign, campaignFields, eventCampaign, NO_TRACKING, publicCampaign } from './campaign.model.ts'
import { exportCampaign, getCampaignReport, listCampaignRecipients } from './campaign-results.ts'
import { statusAfter } from './campaign-states.ts'
import { cancelCampaign, pauseCampaign, resumeCampaign, retryCampaign } from './change-state.ts'
import { countsOf, reviewCampaign } from './check-campaign.ts'
import { previewCampaign, testCampaign } from './preview-campaign.ts'
import { holdTemplate, requireReferences, requireUsableSender, settingsOf } from './settings.ts'
import { scheduleCampaign, startCampaign } from './start-campaign.ts'

const MAX_NAME_LENGTH = 100
/** What a duplicate has of its original. */
const COPIED = [
  'subject',
  'preheader',
  'html',
  'template',
  'text',
  'sender',
  'lists',
  'segments',
  'excludeLists',
  'ratePerMinute',
  'track',
] as const
type Copied = (typeof COPIED)[number]

/** Handlers of campaigns. */
export function campaigns(context: Context): Handlers<'rollcall.campaigns.v1.Campaigns'> {
  const of = ({ caller }: Call) => context.collections.of(caller.organizationId).campaigns
  return {
    listCampaigns: ({ list }, call) =>
      runList({ scope: of(call), query: list ?? {}, fields: campaignFields, present: publicCampaign }),

    createCampaign: (request, call) => createCampaign(context, request, call),
    getCampaign: async ({ id }, call) => json(publicCampaign(await of(call).get(id, 'campaign'))),
    updateCampaign: (request, call) => updateCampaign(context, request, call),

    deleteCampaign: async ({ id }, call) =>
      context.store.transaction(async tx => {
        const campaign = await of(call).get(id, 'campaign', { tx })
        statusAfter('delete', campaign.status)
        await of(call).deleteOne({ _id: campaign._id }, { tx })
        const data = { campaign: eventCampaign(campaign), actor: actorOf(call.caller) }
        await addEvents(tx, [event('campaign.deleted', campaign, data)])
        return json(publicCampaign(campaign))
      }),

    startCampaign: ({ id }, call) => startCampaign(context, id, call),
    scheduleCampaign: (request, call) => scheduleCampaign(context, request, call),
    pauseCampaign: ({ id }, call) => pauseCampaign(context, id, call),
    resumeCampaign: ({ id }, call) => resumeCampaign(context, id, call),
    cancelCampaign: ({ id }, call) => cancelCampaign(context, id, call),
    retryCampaign: ({ id }, call) => retryCampaign(context, id, call),
    testCampaign: (request, call) => testCampaign(context, request, call),
    countCampaignAudience: async (selection, call) =>
      countsOf(await context.recipients.countRecipients(selection, callsOf(call).asService)),
    reviewCampaign: async ({ id }, call) => reviewCampaign(context, await of(call).get(id, 'campaign'), callsOf(call)),
    listCampaignRecipients: (request, call) => listCampaignRecipients(context, request, call),
    getCampaignReport: (request, call) => getCampaignReport(context, request, call),
    exportCampaign: ({ id }, call) => exportCampaign(context, id, call),
    previewCampaign: (request, call) => previewCampaign(context, request, call),

    duplicateCampaign: async ({ id }, call) => {
      const campaign: Campaign = await of(call).get(id, 'campaign')
      const copied = Object.fromEntries(COPIED.map(field => [field, campaign[field]])) as Pick<Campaign, Copied>
      const name = `Copy of ${campaign.name}`.slice(0, MAX_NAME_LENGTH)
      return insert(context, { ...copied, ...(await withoutTemplate(context, campaign)), name }, call)
    },
  }
}

/** Returns what a copy of a campaign has instead of a template that was deleted since: what was sent. */
async function withoutTemplate({ collections }: Context, { organization, template, content }: Campaign) {
  if (!template || !content) return {}
  const { templates } = collections.of(organization)
  if (await templates.findOne({ _id: template }, { projection: { _id: 1 } })) return {}
  const { html = null, text = null } = content
  return { template: null, html, text }
}

async function createCampaign(context: Context, request: CreateCampaignRequest, call: Call): Promise<HttpBody> {
  const settings = settingsOf(request)
  requireParsable(settings)
  await requireReferences(context, settings, call)
  const track = settings.track ?? (await defaultTracking(context, call))
  return insert(context, { ...settings, track }, call)
}

/** Returns what the organization counts where a campaign says nothing. */
async function defaultTracking({ organizations }: Context, call: Call): Promise<Campaign['track']> {
  const { defaultTracking } = await organizations.findOrganization({}, callsOf(call).asService)
  const { opens, clicks } = defaultTracking ?? NO_TRACKING
  return { opens, clicks }
}

async function insert(context: Context, settings: Partial<Campaign>, { caller }: Call): Promise<HttpBody> {
  const tenant = context.collections.of(caller.organizationId)
  const quota = { limit: context.config.CAMPAIGNS_PER_ORGANIZATION, what: 'campaigns per organization' }
  const draft = { ...settings, createdBy: actorOf(caller) } as Draft<Campaign>
  const created = await context.store.transaction(
    async tx => {
      await requireRoom(tenant.campaigns, quota, tx)
      await holdTemplate(tenant, settings, tx)
      const campaign = await tenant.campaigns.insertOne(draft, { tx })
      const data = { campaign: eventCampaign(campaign), actor: campaign.createdBy }
      await addEvents(tx, [event('campaign.created', campaign, data)])
      return campaign
    },
    { queue: `campaigns of ${caller.organizationId}` },
  )
  return json(publicCampaign(created))
}

/**
 * Changes a campaign. A new rate reaches the mails of one that is being sent at once. Who changes a scheduled one otherwise
 * must be allowed to use its sender, now and at its time.
 */
async function updateCampaign(
  context: Context,
  { id, ...request }: UpdateCampaignRequest,
  call: Call,
): Promise<Updated> {
  const tenant = context.collections.of(call.caller.organizationId)
  const settings = settingsOf(request)
  const action = Object.keys(settings).join() === 'ratePerMinute' ? 'changeRate' : 'update'
  const seen: Campaign = await tenant.campaigns.get(id, 'campaign')
  statusAfter(action, seen.status)
  requireParsable(settings)
  await requireReferences(context, settings, call)
  const checked = senderToCheck(seen, settings, action)
  if (checked !== undefined) await requireUsableSender(context, checked, call)
  const campaign = await context.store.transaction(async tx => {
    const before: Campaign = await tenant.campaigns.get(id, 'campaign', { tx })
    statusAfter(action, before.status)
    const changed = changedFields(before, settings)
    if (changed.length === 0) return before
    const needed = senderToCheck(before, settings, action)
    if (needed !== undefined && String(needed) !== String(checked)) throw new AppError('campaign.changed')
    await holdTemplate(tenant, settings, tx)
    const options = { tx, returnDocument: 'after' } as const
    const update = updateOf(before, { ...settings, ...(needed !== undefined && { scheduledFor: userOf(call) }) })
    const after = (await tenant.campaigns.findOneAndUpdate({ _id: before._id }, update, options))!
    const changes = changesBetween(
      changed,
      withoutContent(publicCampaign(before)),
      withoutContent(publicCampaign(after)),
    )
    const data = { campaign: eventCampaign(after), changed, changes, actor: actorOf(call.caller) }
    await addEvents(tx, [event('campaign.updated', after, data)])
    return after
  })
  if (campaign.status === 'sending' && campaign.content)
    await context.sending.put(campaign, campaign.content, callsOf(call).asService)
  return updated()
}

/**
 * Returns the sender that a change of a scheduled campaign requires the right to use; null: the default one. A change of the
 * rate requires none.
 */
function senderToCheck(
  { status, sender }: Campaign,
  settings: Partial<Campaign>,
  action: 'changeRate' | 'update',
): Campaign['sender'] | undefined {
  if (status !== 'scheduled' || action === 'changeRate') return undefined
  return settings.sender === undefined ? sender : settings.sender
}

/** Returns the update of a campaign. A start that has read it before is refused, and begun again at the scheduled time. */
function updateOf({ status, scheduledAt }: Campaign, settings: Partial<Campaign>): object {
  if (status === 'sending') return { $set: settings, $inc: { revision: 1 } }
  return { $set: { ...settings, dueAt: scheduledAt }, $inc: { attempts: 1, revision: 1 } }
}
