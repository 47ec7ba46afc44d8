import type { ImportJob, ImportResult } from '@rollcall/sdk'
import { useTranslation } from 'react-i18next'
import { partsOf } from './outcome.ts'
import classes from './outcome-bar.module.css'

/** What became of the rows, as one bar; its numbers below, where there is room. */
export function OutcomeBar({
  kind,
  result,
  isCompact = false,
}: {
  kind: ImportJob['kind']
  result: ImportResult
  isCompact?: boolean
}) {
  const { t, i18n } = useTranslation()
  const parts = partsOf(kind, result)
  const total = Math.max(1, result.total)
  const number = (count: number) => count.toLocaleString(i18n.language)
  const label = parts
    .filter(({ count }) => count > 0)
    .map(({ name, count }) => `${t(`imports.outcomes.${name}`)} ${number(count)}`)
    .join(', ')
  return (
    <div>
      <div
        className={classes.bar}
        role="img"
        aria-label={label || t('imports.state.waiting')}
        title={label}
        data-compact={isCompact || undefined}
      >
        {parts.map(
          ({ name, count, tone }) =>
            count > 0 && <span key={name} data-tone={tone} style={{ width: `${(100 * count) / total}%` }} />,
        )}
      </div>
      {!isCompact && (
        <dl className={classes.numbers}>
          {parts.map(({ name, count, tone }) => (
            <div key={name} className={classes.number} data-tone={tone}>
              <dt>{t(`imports.outcomes.${name}`)}</dt>
              <dd className="rc-tabular">{number(count)}</dd>
            </div>
          ))}
        </dl>
      )}
    </div>
  )
}
