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

/** Returns the marks of an axis that shows how a total moves: round numbers, with some room below and above. */
export function ticksOf(points: readonly Pick<GrowthPoint, 'total'>[]): number[] {
  const totals = points.map(({ total }) => total)
  const [low, high] = [Math.min(...totals), Math.max(...totals)]
  const room = Math.max(1, (high - low) * 0.15)
  const step = roundedUp((high - low + 2 * room) / STEPS)
  const first = Math.floor(Math.max(0, low - room) / step)
  const last = Math.ceil((high + room) / step)
  return Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step)
}

const STEPS = 4

/** Returns the next of 1, 2, 5, 10, 20, 50, … */
function roundedUp(width: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, width)))
  return power * ([1, 2, 5].find(factor => factor * power >= width) ?? 10)
}
