import type { WebhookStats } from '@rollcall/sdk'
import type { Bar } from '../kit/bars.tsx'

/** Returns deliveries over time as bars, failed ones on top. */
export function deliveryBars(stats: readonly WebhookStats[]): Bar[] {
  return stats.map(({ at, delivered, failed }) => ({
    key: at,
    parts: [
      { tone: 'bad', count: failed },
      { tone: 'good', count: delivered },
    ],
  }))
}
