import type { MailingPoint } from '@rollcall/sdk'

export type Interval = 'hour' | 'day'

const LENGTH_MS = { hour: 3_600_000, day: 86_400_000 } as const
/** How many intervals a chart shows at most. */
const MAX_POINTS = { hour: 72, day: 60 } as const
const NOTHING = { sent: 0, delivered: 0, opened: 0, clicked: 0, unsubscribed: 0 } as const
const HOURLY_MS = 2 * 86_400_000

/** Returns the interval that shows a campaign best: by hour in its first two days. */
export function usualInterval(startedAt: string, now = Date.now()): Interval {
  return now - Date.parse(startedAt) < HOURLY_MS ? 'hour' : 'day'
}

/** Returns the points of a series from its first one, those in which nothing happened as well. */
export function withoutGaps(points: readonly MailingPoint[], interval: Interval, now = Date.now()): MailingPoint[] {
  const first = points[0]
  if (!first) return []
  const byTime = new Map(points.map(point => [Date.parse(point.at), point]))
  const start = Date.parse(first.at)
  const count = Math.floor((now - start) / LENGTH_MS[interval]) + 1
  return Array.from({ length: Math.max(1, Math.min(count, MAX_POINTS[interval])) }, (_, index) => {
    const at = start + index * LENGTH_MS[interval]
    return byTime.get(at) ?? { at: new Date(at).toISOString(), ...NOTHING }
  })
}
