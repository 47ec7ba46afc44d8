import { AppError } from '@rollcall/contract'
import { type DueJob, defineJob, type Outcome } from '@rollcall/jobs'
import type { Mailing } from '@rollcall/protos/gen/messaging-v1.ts'
import type { CallContext } from '@rollcall/rpc'
import { addEvents, event, type OutgoingEvent, type Unscoped } from '@rollcall/store'
import type { Context } from '../context.ts'
import { callOf, callsAtTimeOf } from './calls.ts'
import { type Campaign, eventCampaign } from './campaign.model.ts'
import { syncState } from './change-state.ts'
import { countDaily } from './daily-series.ts'
import { selectionOf } from './selection-of.ts'
import { begin } from './start-campaign.ts'

/** Contacts that one step takes. */
const STEP = 1000
/** Steps of a slice: the claim lasts longer. */
const STEPS_PER_SLICE = 5
/** How often a campaign that is being sent is looked at. */
const WATCH_MS = 1000
/** Opens and clicks of a finished campaign are counted for so long, ever more rarely. */
const FOLLOW_MS = 30 * 24 * 3_600_000
const MAX_FOLLOW_PAUSE_MS = 3_600_000
/** Refusals of an audience that last until somebody changes it. */
const REFUSED: ReadonlySet<string> = new Set(['segment.outdated', 'segment.unknown', 'list.unknown'])
const SYSTEM = { kind: 'system', id: null, name: 'campaigns' } as const

/**
 * Runs the campaigns that are due, each claimed by moving its `dueAt`:
 *
 * 1. Start a scheduled campaign at its time, after the same checks as at a manual start. If it is not ready, it fails.
 * 2. Take the audience in steps of 1,000 contacts, by position, and queue them at the sending side. A step that is
 *    repeated after a crash queues nobody twice. Then close the mailing. If the audience is
 *    refused, because its segment or list no longer exists as it was, the campaign pauses until somebody resumes it.
 * 3. Copy the counts until the sending side has finished, or has paused by itself. If its state differs from that of the
 *    campaign, because a process died between the two, the campaign's state counts.
 * 4. Follow the counts of opens and clicks of a finished campaign for 30 days. Those by day are kept with the campaign.
 */
export function campaignJob(model: Unscoped<Campaign>, run: (campaign: Campaign) => Promise<Outcome>): DueJob {
  return defineJob({ name: 'campaigns', due: { model }, concurrency: 10, concurrencyPerOrganization: 3, run })
}

/** Runs one slice of a claimed campaign. */
export async function runCampaign(context: Context, campaign: Campaign): Promise<Outcome> {
  switch (campaign.status) {
    case 'scheduled':
      return startScheduled(context, campaign)
    case 'sending':
    case 'paused':
      return campaign.taken.isWhole ? watch(context, campaign) : take(context, campaign)
    case 'sent':
    case 'cancelled':
      return follow(context, campaign)
    default:
      return end(context, campaign)
  }
}

async function startScheduled(context: Context, campaign: Campaign): Promise<Outcome> {
  try {
    await begin(context, campaign, callsAtTimeOf(campaign), campaign.scheduledBy ?? SYSTEM)
    return 'again'
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    if (error.code === 'campaign.wrong_status' || error.code === 'campaign.changed') return 'again'
    if (error.code !== 'campaign.not_ready') throw error
    const failed = { status: 'failed' as const, failedReason: error.message, finishedAt: new Date(), dueAt: null }
    return (await store(context, campaign, failed, 'campaign.failed')) ? 'done' : 'again'
  }
}

async function take(context: Context, campaign: Campaign): Promise<Outcome> {
  try {
    return await takeSteps(context, campaign)
  } catch (error) {
    if (error instanceof AppError && REFUSED.has(error.code)) return pauseTaking(context, campaign, error.message)
    throw error
  }
}

/** Pauses a campaign of which not the whole audience is taken. Nothing is due until somebody changes its state. */
async function pauseTaking(context: Context, campaign: Campaign, pausedReason: string): Promise<Outcome> {
  const as = callOf(campaign)
  await context.sending.setState(campaign, 'paused', as)
  const { counts } = await context.sending.get(campaign, as)
  const paused = { status: 'paused' as const, pausedReason, counts, dueAt: null }
  const type = campaign.status === 'paused' ? undefined : 'campaign.paused'
  return (await store(context, campaign, paused, type)) ? 'done' : 'again'
}

async function takeSteps(context: Context, campaign: Campaign): Promise<Outcome> {
  const as = callOf(campaign)
  if (campaign.taken.position === 0) await syncState(context, campaign, as)
  let { taken } = campaign
  for (let step = 0; step < STEPS_PER_SLICE && !taken.isWhole; step++) {
    const { recipients, ...page } = await context.recipients.takeRecipients(
      {
        selection: selectionOf(campaign),
        reachableOnly: false,
        afterPosition: taken.position,
        ...(taken.until !== null && { untilPosition: taken.until }),
        limit: STEP,
      },
      as,
    )
    if (recipients.length > 0) await context.sending.queue(campaign, recipients, as)
    if (page.done) await context.sending.close(campaign, as)
    taken = { position: page.lastPosition, until: taken.until ?? page.untilPosition, isWhole: page.done }
    if (!(await store(context, campaign, { taken }))) return 'again'
  }
  return 'again'
}

async function watch(context: Context, campaign: Campaign): Promise<Outcome> {
  const as = callOf(campaign)
  const mailing = await context.sending.get(campaign, as)
  const { state, counts } = mailing
  const change = ending(campaign, mailing)
  if (change) {
    const [type, fields] = change
    return (await store(context, campaign, { ...fields, counts }, type)) ? WATCH_MS : 'again'
  }
  if (isApart(campaign, state)) await syncState(context, campaign, as)
  await store(context, campaign, { counts })
  await keepDaily(context, campaign, as)
  return WATCH_MS
}

/** Whether campaign and mails disagree, because a process died between the two changes. Paused mails may also not have begun. */
function isApart({ status }: Campaign, state: Mailing['state']): boolean {
  return status === 'sending' ? state !== 'sending' : state === 'sending'
}

/** Returns what the sending side has brought about, with its event. */
function ending(
  { status }: Campaign,
  { state, pausedReason, isFinished }: Mailing,
): [type: OwnEvent, change: Partial<Campaign>] | undefined {
  if (state === 'cancelled')
    return ['campaign.cancelled', { status: 'cancelled', pausedReason: null, finishedAt: new Date() }]
  if (isFinished) return ['campaign.finished', { status: 'sent', pausedReason: null, finishedAt: new Date() }]
  const isItsOwn = status === 'sending' && state === 'paused' && pausedReason !== undefined
  return isItsOwn ? ['campaign.paused', { status: 'paused', pausedReason }] : undefined
}

type OwnEvent = 'campaign.cancelled' | 'campaign.failed' | 'campaign.finished' | 'campaign.paused'

/** Copies the counts of a finished campaign, ever more rarely. */
async function follow(context: Context, campaign: Campaign): Promise<Outcome> {
  const ageMs = Date.now() - (campaign.finishedAt ?? campaign.updatedAt).getTime()
  const as = callOf(campaign)
  const { counts } = await context.sending.get(campaign, as)
  if (ageMs > FOLLOW_MS) return (await store(context, campaign, { counts, dueAt: null })) ? 'done' : 'again'
  await store(context, campaign, { counts })
  await keepDaily(context, campaign, as)
  return Math.min(Math.max(ageMs / 20, WATCH_MS), MAX_FOLLOW_PAUSE_MS)
}

/** Stores the counts by day with the campaign when it is time to. If counting fails, the job tries again later. */
async function keepDaily(context: Context, campaign: Campaign, as: CallContext): Promise<void> {
  const daily = await countDaily(context, campaign, as)
  if (daily) await store(context, campaign, { daily })
}

async function end(context: Context, campaign: Campaign): Promise<Outcome> {
  return (await store(context, campaign, { dueAt: null })) ? 'done' : 'again'
}

/**
 * Stores what a slice found, unless another process has claimed the campaign or its status has changed.
 * @returns whether it was stored
 */
async function store(
  context: Context,
  { _id, organization, attempts, status }: Campaign,
  change: Partial<Campaign>,
  type?: OwnEvent,
): Promise<boolean> {
  const { campaigns } = context.collections.of(organization)
  const isVisible = change.status !== undefined && change.status !== status
  return context.store.transaction(async tx => {
    const options = { tx, timestamps: isVisible, returnDocument: 'after' as const }
    const after = await campaigns.findOneAndUpdate({ _id, attempts, status }, { $set: change }, options)
    if (after && type) await addEvents(tx, [eventOf(after, type)])
    return after !== null
  })
}

function eventOf(campaign: Campaign, type: OwnEvent): OutgoingEvent {
  const data = { campaign: eventCampaign(campaign), actor: SYSTEM }
  if (type !== 'campaign.failed') return event(type, campaign, data)
  return event('campaign.failed', campaign, { ...data, reason: campaign.failedReason! })
}
