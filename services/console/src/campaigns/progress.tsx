import type { Campaign } from '@rollcall/sdk'
import { useTranslation } from 'react-i18next'
import { CampaignBar } from './campaign-status.tsx'
import classes from './report.module.css'

/** How far sending is. */
export function Progress({ campaign }: { campaign: Campaign }) {
  const { t, i18n } = useTranslation()
  const { status, counts, ratePerMinute } = campaign
  const done = counts.recipients - counts.waiting
  const number = (count: number) => count.toLocaleString(i18n.language)
  const minutes = ratePerMinute ? Math.ceil(counts.waiting / ratePerMinute) : undefined
  const isOver = status !== 'sending' && status !== 'paused'
  return (
    <section className={classes.card} aria-label={t('campaigns.progress')}>
      {!isOver && (
        <p className={classes.progress} role="status">
          <strong>{t('campaigns.doneOf', { done: number(done), total: number(counts.recipients) })}</strong>
          {status === 'sending' && minutes !== undefined && counts.waiting > 0 && (
            <span>{t('campaigns.minutesLeft', { count: minutes })}</span>
          )}
        </p>
      )}
      <CampaignBar counts={counts} />
    </section>
  )
}
