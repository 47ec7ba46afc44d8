import type { AudienceCounts, Campaign, CampaignCounts } from '@rollcall/sdk'
import type { OutcomePart } from '../kit/outcome-bar.tsx'
import type { Tone } from '../kit/status-chip.tsx'
import type en from './en.ts'

type Status = Campaign['status']

export const TONES: Record<Status, Tone> = {
  draft: 'neutral',
  scheduled: 'info',
  sending: 'info',
  paused: 'warn',
  sent: 'good',
  cancelled: 'neutral',
  failed: 'bad',
}
export const STATUSES = Object.keys(TONES) as Status[]

/** The steps of the wizard, in their order. */
export const STEPS = ['content', 'audience', 'sender', 'review'] as const
export type Step = (typeof STEPS)[number]

/** Whether content, audience and sender of a campaign can change. */
export function isEditable({ status }: Pick<Campaign, 'status'>): boolean {
  return status === 'draft' || status === 'scheduled'
}

/** Returns the steps before and after one. */
export function neighboursOf(step: Step): { before: Step | undefined; after: Step | undefined } {
  const at = STEPS.indexOf(step)
  return { before: STEPS[at - 1], after: STEPS[at + 1] }
}

type CountName = keyof typeof en.counts
type Share<Name> = Omit<OutcomePart, 'label'> & { name: Name }

/** Returns what became of the recipients; the shares add up to all of them. */
export function sharesOf({ sent, failed, waiting, suppressed }: CampaignCounts): Share<CountName>[] {
  return [
    { name: 'sent', count: sent, tone: 'good' },
    { name: 'failed', count: failed, tone: 'bad' },
    { name: 'suppressed', count: suppressed.blocked + suppressed.unsubscribed + suppressed.address, tone: 'warn' },
    { name: 'waiting', count: waiting, tone: 'rest' },
  ]
}

/** Returns who of an audience gets the mail, and who does not. */
export function audienceShares(counts: AudienceCounts): Share<keyof AudienceCounts>[] {
  const tones = {
    recipients: 'good',
    excluded: 'neutral',
    unsubscribed: 'warn',
    blocked: 'warn',
    address: 'bad',
  } as const
  return (Object.keys(tones) as (keyof typeof tones)[]).map(name => ({
    name,
    count: counts[name],
    tone: tones[name],
  }))
}

/** Returns a share as a number between 0 and 1; undefined where it means nothing. */
export function rateOf(count: number, of: number): number | undefined {
  return of > 0 ? count / of : undefined
}
