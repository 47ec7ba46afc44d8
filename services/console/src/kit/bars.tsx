import classes from './bars.module.css'

/** What a part of a bar counts. */
export type BarTone = 'good' | 'bad' | 'accent' | 'soft'
/** A bar of parts, from the top to the bottom. */
export type Bar = { key: string; parts: readonly { tone: BarTone; count: number }[] }

/** Counts over time as bars. For eyes only: words or a table beside it say the same. */
export function Bars({ bars, isSmall = false }: { bars: readonly Bar[]; isSmall?: boolean }) {
  const most = Math.max(1, ...bars.map(({ parts }) => parts.reduce((sum, { count }) => sum + count, 0)))
  return (
    <div className={classes.bars} data-small={isSmall || undefined} aria-hidden>
      {bars.map(({ key, parts }) => (
        <div key={key} className={classes.bar}>
          {parts.map(
            ({ tone, count }) =>
              count > 0 && <span key={tone} data-tone={tone} style={{ height: `${(100 * count) / most}%` }} />,
          )}
        </div>
      ))}
    </div>
  )
}

/** Bars with the times of the first and the last below. */
export function BarChart({ bars, first, last }: { bars: readonly Bar[]; first: string; last: string }) {
  return (
    <div className={classes.chart}>
      <Bars bars={bars} />
      <div className={classes.axis} aria-hidden>
        <span>{first}</span>
        <span>{last}</span>
      </div>
    </div>
  )
}
