import type { MailingPoint } from '@rollcall/protos/gen/messaging-v1.ts'
import type { CallContext } from '@rollcall/rpc'
import type { Context } from '../context.ts'
import type { Campaign } from './campaign.model.ts'

/** What happened to the mails of a campaign by day, kept because the mails expire 30 days after they end. */
export type DailySeries = { countedAt: Date; points: MailingPoint[] }

/** Counting reads all mails of a campaign. */
const COUNT_EVERY_MS = 24 * 3_600_000

/** Returns the series of a campaign when it is to be kept: once a day, and once after the campaign has finished. */
export async function countDaily(
  { sending }: Pick<Context, 'sending'>,
  campaign: Campaign,
  as: CallContext,
): Promise<DailySeries | undefined> {
  const { daily, startedAt, finishedAt } = campaign
  const countedAt = new Date()
  const last = daily?.countedAt ?? startedAt ?? countedAt
  const hasFinished = finishedAt !== null && last < finishedAt
  if (!hasFinished && countedAt.getTime() - last.getTime() < COUNT_EVERY_MS) return undefined
  return { countedAt, points: withDaily(daily, await sending.series(campaign, 'day', as)) }
}

/** Returns the points of a kept series and those counted now. Counts of a day only grow until its mails expire. */
export function withDaily(daily: DailySeries | null, counted: readonly MailingPoint[]): MailingPoint[] {
  const points = new Map((daily?.points ?? []).map(point => [point.at, point]))
  for (const point of counted) points.set(point.at, largest(point, points.get(point.at) ?? point))
  return [...points.values()].sort((one, other) => one.at.localeCompare(other.at))
}

function largest(one: MailingPoint, other: MailingPoint): MailingPoint {
  return {
    at: one.at,
    sent: Math.max(one.sent, other.sent),
    delivered: Math.max(one.delivered, other.delivered),
    opened: Math.max(one.opened, other.opened),
    clicked: Math.max(one.clicked, other.clicked),
    unsubscribed: Math.max(one.unsubscribed, other.unsubscribed),
  }
}
