import { AppError, type HttpBody, json } from '@rollcall/contract'
import { actorOf, type Call, type CallContext } from '@rollcall/rpc'
import { addEvents, event, type OutgoingEvent } from '@rollcall/store'
import type { Context } from '../context.ts'
import { callsOf } from './calls.ts'
import { type Campaign, eventCampaign, publicCampaign } from './campaign.model.ts'
import { type CampaignAction, type CampaignStatus, statusAfter } from './campaign-states.ts'

type Actor = Campaign['createdBy']

/** How long an action has to change the mails of a campaign and then its status. */
const HOLD_MS = 15_000

type Data = { campaign: ReturnType<typeof eventCampaign>; actor: Actor }
type EventOf = (campaign: Campaign, data: Data) => OutgoingEvent

/** The events of the actions. */
const events = {
  start: (campaign, data) => event('campaign.started', campaign, data),
  schedule: (campaign, data) => event('campaign.scheduled', campaign, { ...data, at: campaign.scheduledAt! }),
  pause: (campaign, data) => event('campaign.paused', campaign, data),
  resume: (campaign, data) => event('campaign.resumed', campaign, data),
  retry: (campaign, data) => event('campaign.retried', campaign, data),
  cancel: (campaign, data) =>
    event(campaign.status === 'draft' ? 'campaign.unscheduled' : 'campaign.cancelled', campaign, data),
} satisfies Partial<Record<CampaignAction, EventOf>>

/** What an action does. */
export type Change = {
  action: keyof typeof events
  actor: Actor
  /** Fields that change with the status. */
  set?: Partial<Campaign>
  /** Further conditions: the fence of a start. */
  where?: Pick<Campaign, 'attempts' | 'status'> & { revision: number }
}

/**
 * Moves a campaign to the status after an action, with its event, in one transaction. Takes it from the job if that has
 * claimed it.
 * @throws {AppError} campaign.wrong_status; campaign.changed if another action came first
 */
export async function changeState(
  context: Context,
  { _id, organization }: Pick<Campaign, '_id' | 'organization'>,
  { action, actor, set = {}, where }: Change,
): Promise<Campaign> {
  const { campaigns } = context.collections.of(organization)
  const changed = await context.store.transaction(async tx => {
    const before = await campaigns.get(_id, 'campaign', { tx })
    const status = statusAfter(action, before.status)
    const filter = { _id, status: before.status, ...where }
    const after = await campaigns.findOneAndUpdate(
      filter,
      { $set: { ...set, status }, $inc: { attempts: 1 } },
      { tx, returnDocument: 'after' },
    )
    if (!after) throw new AppError('campaign.changed')
    await addEvents(tx, [events[action](after, { campaign: eventCampaign(after), actor })])
    return after
  })
  context.job.wake()
  return changed
}

/**
 * Pauses a campaign. Its mails stop first: if they cannot be stopped, nothing has changed.
 * @throws {AppError} campaign.wrong_status
 */
export async function pauseCampaign(context: Context, id: string, call: Call): Promise<HttpBody> {
  const campaign = await campaignFor(context, 'pause', id, call)
  await hold(context, campaign)
  await context.sending.setState(campaign, 'paused', callsOf(call).asService)
  const set = { pausedReason: null, dueAt: new Date() }
  return settle(context, campaign, { action: 'pause', set }, call)
}

/** Resumes a paused campaign. @throws {AppError} campaign.wrong_status */
export async function resumeCampaign(context: Context, id: string, call: Call): Promise<HttpBody> {
  const campaign = await campaignFor(context, 'resume', id, call)
  await hold(context, campaign)
  await context.sending.setState(campaign, 'sending', callsOf(call).asService)
  const set = { pausedReason: null, dueAt: new Date() }
  return settle(context, campaign, { action: 'resume', set }, call)
}

/** Cancels a campaign, or makes a scheduled one a draft again. @throws {AppError} campaign.wrong_status */
export async function cancelCampaign(context: Context, id: string, call: Call): Promise<HttpBody> {
  const campaign = await campaignFor(context, 'cancel', id, call)
  const isScheduled = campaign.status === 'scheduled'
  if (!isScheduled) {
    await hold(context, campaign)
    await context.sending.setState(campaign, 'cancelled', callsOf(call).asService)
  }
  const set: Partial<Campaign> = isScheduled
    ? { scheduledAt: null, dueAt: null }
    : { pausedReason: null, finishedAt: new Date(), dueAt: new Date() }
  return json(
    publicCampaign(await changeState(context, campaign, { action: 'cancel', actor: actorOf(call.caller), set })),
  )
}

/** Sends again to those for whom sending failed. @throws {AppError} campaign.wrong_status, campaign.nothing_failed */
export async function retryCampaign(context: Context, id: string, call: Call): Promise<HttpBody> {
  const campaign = await campaignFor(context, 'retry', id, call)
  if (campaign.startedAt === null) throw new AppError('campaign.nothing_failed')
  await hold(context, campaign)
  const { asService } = callsOf(call)
  const count = await context.sending.retryFailed(campaign, asService)
  if (count === 0 && !(await isInterruptedRetry(context, campaign, asService)))
    throw new AppError('campaign.nothing_failed')
  await context.sending.setState(campaign, 'sending', asService)
  const set = { pausedReason: null, finishedAt: null, dueAt: new Date() }
  return settle(context, campaign, { action: 'retry', set }, call)
}

/** Whether recipients of a finished campaign wait: a retry ended before it changed the campaign. */
async function isInterruptedRetry({ sending }: Context, campaign: Campaign, as: CallContext): Promise<boolean> {
  return campaign.status === 'sent' && (await sending.get(campaign, as)).counts.waiting > 0
}

/** Changes the status of a campaign whose mails have already changed, and returns it. */
async function settle(
  context: Context,
  campaign: Campaign,
  change: Pick<Change, 'action' | 'set'>,
  call: Call,
): Promise<HttpBody> {
  const changed = await changeState(context, campaign, { ...change, actor: actorOf(call.caller) })
  await syncState(context, campaign, callsOf(call).asService)
  return json(publicCampaign(changed))
}

/**
 * Gives the mails of a campaign the state of the campaign. A concurrent action may have changed it since: the
 * last writer reads it again, so that both agree in the end.
 */
export async function syncState(
  { collections, sending }: Context,
  campaign: Pick<Campaign, '_id' | 'organization'>,
  as: CallContext,
): Promise<void> {
  const { campaigns } = collections.of(campaign.organization)
  const stateNow = async () => (await campaigns.get(campaign._id, 'campaign')).status
  let seen: CampaignStatus | undefined
  for (let status = await stateNow(); status !== seen; status = await stateNow()) {
    seen = status
    if (status === 'sending' || status === 'paused') await sending.setState(campaign, status, as)
  }
}

/**
 * Keeps the job from a campaign while an action changes its mails and then its status: between the two, the job would
 * take the change of the mails for the sending side's own doing, and record it or undo it.
 */
async function hold({ collections }: Context, { _id, organization, status }: Campaign): Promise<void> {
  const change = { $set: { dueAt: new Date(Date.now() + HOLD_MS) }, $inc: { attempts: 1 } }
  await collections.of(organization).campaigns.updateOne({ _id, status }, change, { timestamps: false })
}

/** Returns a campaign in a status that allows an action. @throws {AppError} campaign.not_found, campaign.wrong_status */
export async function campaignFor(
  context: Context,
  action: CampaignAction,
  id: string,
  { caller }: Call,
): Promise<Campaign> {
  const campaign = await context.collections.of(caller.organizationId).campaigns.get(id, 'campaign')
  statusAfter(action, campaign.status)
  return campaign
}
