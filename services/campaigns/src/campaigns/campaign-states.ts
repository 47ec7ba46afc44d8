import { AppError } from '@rollcall/contract'

/** Statuses of a campaign. */
export const campaignStatuses = ['draft', 'scheduled', 'sending', 'paused', 'sent', 'cancelled', 'failed'] as const
export type CampaignStatus = (typeof campaignStatuses)[number]

/** What each action makes of each status. In a status that is missing, the action is refused. */
export const transitions = {
  update: { draft: 'draft', scheduled: 'scheduled' },
  delete: { draft: 'draft', scheduled: 'scheduled' },
  changeRate: { draft: 'draft', scheduled: 'scheduled', sending: 'sending' },
  start: { draft: 'sending', scheduled: 'sending' },
  schedule: { draft: 'scheduled', scheduled: 'scheduled' },
  pause: { sending: 'paused' },
  resume: { paused: 'sending' },
  cancel: { scheduled: 'draft', sending: 'cancelled', paused: 'cancelled' },
  retry: { sent: 'sending', paused: 'sending', failed: 'sending' },
} as const satisfies Record<string, Partial<Record<CampaignStatus, CampaignStatus>>>

/** An action that depends on the status. */
export type CampaignAction = keyof typeof transitions

const verbs: Record<CampaignAction, string> = {
  update: 'changed',
  delete: 'deleted',
  changeRate: 'changed',
  start: 'started',
  schedule: 'scheduled',
  pause: 'paused',
  resume: 'resumed',
  cancel: 'cancelled',
  retry: 'retried',
}

/** Returns the status after an action. @throws {AppError} campaign.wrong_status */
export function statusAfter(action: CampaignAction, status: CampaignStatus): CampaignStatus {
  const next = (transitions[action] as Partial<Record<CampaignStatus, CampaignStatus>>)[status]
  if (!next) throw new AppError('campaign.wrong_status', { status, verb: verbs[action] })
  return next
}

/** Campaigns that still need their lists, segments and template. */
export const UNFINISHED: readonly CampaignStatus[] = ['draft', 'scheduled', 'sending', 'paused']
