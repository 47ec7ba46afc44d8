import type { GrowthPoint } from '@rollcall/sdk'

/** The periods that growth is shown for, and the width of their points. */
export const PERIODS = {
  month: { days: 30, interval: 'day' },
  quarter: { days: 90, interval: 'day' },
  year: { days: 364, interval: 'week' },
} as const
export type Period = keyof typeof PERIODS

const DAY_MS = 86_400_000

/** Returns the query of a period that ends now. */
export function queryOf(period: Period, now = Date.now()): { from: string; interval: 'day' | 'week' } {
  const { days, interval } = PERIODS[period]
  return { from: new Date(now - (days - 1) * DAY_MS).toISOString(), interval }
}

/** What happened in a period, in sum. */
export type Sums = Pick<GrowthPoint, 'created' | 'unsubscribed' | 'deleted'> & { net: number }

/** Sums the points of a period up. */
export function sumsOf(points: readonly GrowthPoint[]): Sums {
  const sums = { created: 0, unsubscribed: 0, deleted: 0, net: 0 }
  for (const { created, unsubscribed, deleted } of points) {
    sums.created += created
    sums.unsubscribed += unsubscribed
    sums.deleted += deleted
    sums.net += created - deleted
  }
  return sums
}

/** Returns the range of an axis that shows how a total moves, with some room below and above. */
export function rangeOf(points: readonly Pick<GrowthPoint, 'total'>[]): [low: number, high: number] {
  const totals = points.map(({ total }) => total)
  const [low, high] = [Math.min(...totals), Math.max(...totals)]
  const room = Math.max(1, Math.ceil((high - low) * 0.15))
  return [Math.max(0, low - room), high + room]
}
