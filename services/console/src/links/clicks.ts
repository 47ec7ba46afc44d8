import type { ClickPoint } from '@rollcall/sdk'
import type { Bar } from '../kit/bars.tsx'

/** The periods that clicks are shown for, and the width of their bars. */
export const PERIODS = {
  day: { days: 1, interval: 'hour' },
  month: { days: 29, interval: 'day' },
  year: { days: 334, interval: 'month' },
} as const
export type Period = keyof typeof PERIODS

const DAY_MS = 86_400_000

/** Returns the query of a period that ends now. */
export function queryOf(period: Period, now = Date.now()): { from: string; interval: 'hour' | 'day' | 'month' } {
  const { days, interval } = PERIODS[period]
  return { from: new Date(now - days * DAY_MS).toISOString(), interval }
}

/** Returns when a point begins: hours in the person's time zone; days and months in UTC, in which they are counted. */
export function timeOf({ at }: Pick<ClickPoint, 'at'>, period: Period, language: string): string {
  return new Date(at).toLocaleString(language, {
    month: 'short',
    ...(period === 'year' ? { year: 'numeric' } : { day: 'numeric' }),
    ...(period === 'day' ? { hour: 'numeric', minute: '2-digit' } : { timeZone: 'UTC' }),
  })
}

/** Returns how often a link was followed, and by how many. */
export function sumOf(points: readonly ClickPoint[]): Pick<ClickPoint, 'clicks' | 'unique'> {
  const sum = { clicks: 0, unique: 0 }
  for (const { clicks, unique } of points) {
    sum.clicks += clicks
    sum.unique += unique
  }
  return sum
}

/** Returns clicks as bars: further clicks of the same visitors on top. */
export function barsOf(points: readonly ClickPoint[]): Bar[] {
  return points.map(({ at, clicks, unique }) => ({
    key: at,
    parts: [
      { tone: 'soft', count: clicks - unique },
      { tone: 'accent', count: unique },
    ],
  }))
}
