import { useTranslation } from 'react-i18next'
import classes from './outcome-bar.module.css'
import type { Tone } from './status-chip.tsx'

/** A share of a whole, such as the rows of a file that were created. What is still to come has the tone `rest`. */
export type OutcomePart = { label: string; count: number; tone: Tone | 'rest' }

/** What became of records, as one bar, which is short if compact; otherwise with its numbers below, unless said elsewhere. */
export function OutcomeBar({
  parts,
  total,
  isCompact = false,
  withNumbers = !isCompact,
}: {
  parts: readonly OutcomePart[]
  total: number
  isCompact?: boolean
  withNumbers?: boolean
}) {
  const { t, i18n } = useTranslation()
  const number = (count: number) => count.toLocaleString(i18n.language)
  const label = parts
    .filter(({ count }) => count > 0)
    .map(part => `${part.label} ${number(part.count)}`)
    .join(', ')
  return (
    <div>
      <div
        className={classes.bar}
        role="img"
        aria-label={label || t('kit.nothingYet')}
        title={label}
        data-compact={isCompact || undefined}
      >
        {parts.map(
          ({ label, count, tone }) =>
            count > 0 && (
              <span key={label} data-tone={tone} style={{ width: `${(100 * count) / Math.max(1, total)}%` }} />
            ),
        )}
      </div>
      {withNumbers && (
        <dl className={classes.numbers}>
          {parts.map(({ label, count, tone }) => (
            <div key={label} className={classes.number} data-tone={tone}>
              <dt>{label}</dt>
              <dd className="rc-tabular">{number(count)}</dd>
            </div>
          ))}
        </dl>
      )}
    </div>
  )
}
