import type { WebhookStats } from '@rollcall/sdk'
import classes from './webhooks.module.css'

/** Deliveries over time as bars, failed ones on top. For eyes only: words beside it say the same. */
export function DeliveryBars({ bars, isSmall = false }: { bars: readonly WebhookStats[]; isSmall?: boolean }) {
  const most = Math.max(1, ...bars.map(({ delivered, failed }) => delivered + failed))
  const height = (count: number) => ({ height: `${(100 * count) / most}%` })
  return (
    <div className={classes.bars} data-small={isSmall || undefined} aria-hidden>
      {bars.map(({ at, delivered, failed }) => (
        <div key={at} className={classes.bar}>
          {failed > 0 && <span className={classes.failed} style={height(failed)} />}
          {delivered > 0 && <span className={classes.delivered} style={height(delivered)} />}
        </div>
      ))}
    </div>
  )
}
