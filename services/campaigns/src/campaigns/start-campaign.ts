import { AppError, type HttpBody, json } from '@rollcall/contract'
import type { ScheduleCampaignRequest } from '@rollcall/protos/gen/campaigns-v1.ts'
import { actorOf, type Call } from '@rollcall/rpc'
import type { Context } from '../context.ts'
import { type Calls, callsOf, userOf } from './calls.ts'
import { type Campaign, publicCampaign } from './campaign.model.ts'
import { type Change, campaignFor, changeState } from './change-state.ts'
import { checkCampaign, refusing } from './check-campaign.ts'

const MAX_AHEAD_MS = 366 * 24 * 3_600_000

/** Starts a campaign that is ready. @throws {AppError} campaign.wrong_status, campaign.not_ready */
export async function startCampaign(context: Context, id: string, call: Call): Promise<HttpBody> {
  const campaign = await campaignFor(context, 'start', id, call)
  const started = await begin(context, campaign, callsOf(call), actorOf(call.caller))
  return json(publicCampaign(started))
}

/**
 * Checks a campaign and begins to send it. Its content reaches the sending side first, so that a start that fails changes
 * nothing. Of concurrent starts only the newest succeeds, and only its content is stored. The job then takes the audience.
 * @throws {AppError} campaign.wrong_status, campaign.not_ready; campaign.changed since it was read
 */
export async function begin(
  context: Context,
  campaign: Campaign,
  calls: Calls,
  actor: Change['actor'],
): Promise<Campaign> {
  const content = await checkCampaign(context, campaign, calls)
  const revision = await nextRevision(context, campaign)
  await refusing(() => context.sending.put({ ...campaign, revision }, content, calls.asUser))
  const { attempts, status } = campaign
  const now = new Date()
  const set = {
    content,
    startedAt: now,
    failedReason: null,
    taken: { position: 0, until: null, isWhole: false },
    dueAt: now,
  }
  return changeState(context, campaign, { action: 'start', actor, set, where: { attempts, status, revision } })
}

/**
 * Returns the revision of a start: another start of the same campaign may send something else, such as a newer template.
 * @throws {AppError} campaign.changed since it was read
 */
async function nextRevision(
  { collections }: Context,
  { _id, organization, attempts, status }: Campaign,
): Promise<number> {
  const { campaigns } = collections.of(organization)
  const options = { timestamps: false, returnDocument: 'after' } as const
  const raised = await campaigns.findOneAndUpdate({ _id, attempts, status }, { $inc: { revision: 1 } }, options)
  if (!raised) throw new AppError('campaign.changed')
  return raised.revision!
}

/** Schedules a campaign that is ready. @throws {AppError} campaign.wrong_status, campaign.not_ready, request.invalid_field */
export async function scheduleCampaign(
  context: Context,
  { id, at }: ScheduleCampaignRequest,
  call: Call,
): Promise<HttpBody> {
  const campaign = await campaignFor(context, 'schedule', id, call)
  const scheduledAt = new Date(at)
  requireFuture(scheduledAt)
  const actor = actorOf(call.caller)
  await checkCampaign(context, campaign, callsOf(call))
  const set = { scheduledAt, dueAt: scheduledAt, scheduledBy: actor, scheduledFor: userOf(call) }
  return json(publicCampaign(await changeState(context, campaign, { action: 'schedule', actor, set })))
}

function requireFuture(at: Date): void {
  const ahead = at.getTime() - Date.now()
  if (ahead <= 0) throw new AppError('request.invalid_field', { path: 'at', reason: 'must be in the future' })
  if (ahead > MAX_AHEAD_MS) throw new AppError('request.invalid_field', { path: 'at', reason: 'at most a year ahead' })
}
