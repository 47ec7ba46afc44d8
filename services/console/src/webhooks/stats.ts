import type { WebhookStats } from '@rollcall/sdk'

/** The periods that deliveries are counted over, and how many hours one bar stands for. */
export const PERIODS = {
  day: { hours: 24, perBar: 1 },
  week: { hours: 168, perBar: 6 },
  month: { hours: 720, perBar: 24 },
} as const
export type Period = keyof typeof PERIODS

/** Returns the hours in groups, each with the start of its first hour. */
export function barsOf(hours: readonly WebhookStats[], perBar: number): WebhookStats[] {
  const bars: WebhookStats[] = []
  for (let first = 0; first < hours.length; first += perBar) {
    const some = hours.slice(first, first + perBar)
    bars.push({ at: some[0]!.at, ...sumOf(some) })
  }
  return bars
}

/** Returns how many deliveries there were, by how they ended. */
export function sumOf(hours: readonly Omit<WebhookStats, 'at'>[]): Omit<WebhookStats, 'at'> {
  const none = { delivered: 0, failed: 0 }
  return hours.reduce<typeof none>(
    (sum, { delivered, failed }) => ({
      delivered: sum.delivered + delivered,
      failed: sum.failed + failed,
    }),
    none,
  )
}

/** Returns the share that was delivered, from 0 to 1; undefined without deliveries. */
export function rateOf({ delivered, failed }: Omit<WebhookStats, 'at'>): number | undefined {
  return delivered + failed === 0 ? undefined : delivered / (delivered + failed)
}
