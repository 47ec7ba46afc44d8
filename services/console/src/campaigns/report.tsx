import { SegmentedControl, Skeleton, Table } from '@mantine/core'
import { GraphIcon, TableIcon } from '@primer/octicons-react'
import type { Campaign, CampaignCounts, CampaignReport, MailingLink, MailingPoint } from '@rollcall/sdk'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { pollWhile } from '../kit/polling.ts'
import { ProblemAlert } from '../kit/problem-alert.tsx'
import { Section } from '../kit/section.tsx'
import classes from './report.module.css'
import { type Interval, usualInterval, withoutGaps } from './series.ts'
import { rateOf } from './status.ts'

const ReportChart = lazy(async () => ({ default: (await import('./report-chart.tsx')).ReportChart }))

const REFRESH_MS = 3000
const KINDS = ['sent', 'delivered', 'opened', 'clicked', 'unsubscribed'] as const

/** What became of a campaign's mails, over time and by link. */
export function Report({ campaign }: { campaign: Campaign }) {
  const [interval, setInterval] = useState<Interval>(usualInterval(campaign.startedAt!))
  const { data, error, refetch } = useQuery({
    queryKey: ['campaigns', campaign._id, 'report', interval],
    queryFn: ({ signal }) => rollcall.campaigns.getReport(campaign._id, { interval }, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: campaign.status === 'sending' && pollWhile<CampaignReport>(() => true, REFRESH_MS),
  })
  if (error && !data) return <ProblemAlert error={error} onRetry={refetch} />
  if (!data) return <Skeleton height={420} />
  return (
    <div className={classes.stack}>
      <Rates campaign={campaign} counts={data.counts} />
      <Series points={data.series} interval={interval} onInterval={setInterval} />
      {campaign.track.clicks && <Links links={data.links} />}
    </div>
  )
}

function Rates({ campaign: { track }, counts }: { campaign: Campaign; counts: CampaignCounts }) {
  const { t, i18n } = useTranslation()
  const { sent } = counts
  const rates = [
    { name: 'delivered', isCounted: true },
    { name: 'opened', isCounted: track.opens },
    { name: 'clicked', isCounted: track.clicks },
    { name: 'unsubscribed', isCounted: true },
    { name: 'bounced', isCounted: true },
    { name: 'complained', isCounted: true },
  ] as const
  const percent = (share: number) => share.toLocaleString(i18n.language, { style: 'percent', maximumFractionDigits: 1 })
  return (
    <dl className={classes.rates}>
      {rates.map(({ name, isCounted }) => {
        const share = rateOf(counts[name], sent)
        // Only some mail providers report it.
        const isKnown = isCounted && (name !== 'delivered' || counts.delivered > 0)
        return (
          <div key={name} className={classes.rate}>
            <dt>{t(`campaigns.counts.${name}`)}</dt>
            <dd>
              {isKnown && share !== undefined ? percent(share) : '–'}
              <small>
                {isKnown
                  ? counts[name].toLocaleString(i18n.language)
                  : t(isCounted ? 'campaigns.notReported' : 'campaigns.notTracked')}
              </small>
            </dd>
          </div>
        )
      })}
    </dl>
  )
}

function Series({
  points,
  interval,
  onInterval,
}: {
  points: readonly MailingPoint[]
  interval: Interval
  onInterval: (interval: Interval) => void
}) {
  const { t, i18n } = useTranslation()
  const [view, setView] = useState('chart')
  const shown = withoutGaps(points, interval)
  const when = (at: string) =>
    new Date(at).toLocaleString(i18n.language, {
      day: 'numeric',
      month: 'short',
      ...(interval === 'hour' ? { hour: 'numeric', minute: '2-digit' } : { timeZone: 'UTC' }),
    })
  const names = {
    sent: t('campaigns.counts.sent'),
    delivered: t('campaigns.counts.delivered'),
    opened: t('campaigns.counts.opened'),
    clicked: t('campaigns.counts.clicked'),
    unsubscribed: t('campaigns.counts.unsubscribed'),
  }
  return (
    <Section
      title={t('campaigns.overTime')}
      lead={t('campaigns.overTimeText')}
      action={
        <>
          <SegmentedControl
            size="xs"
            aria-label={t('campaigns.interval')}
            data={(['hour', 'day'] as const).map(value => ({ value, label: t(`campaigns.intervals.${value}`) }))}
            value={interval}
            onChange={value => onInterval(value as Interval)}
          />
          <SegmentedControl
            size="xs"
            aria-label={t('growth.view')}
            data={[
              { value: 'chart', label: <GraphIcon size={14} aria-label={t('growth.chart')} /> },
              { value: 'table', label: <TableIcon size={14} aria-label={t('growth.table')} /> },
            ]}
            value={view}
            onChange={setView}
          />
        </>
      }
    >
      {shown.length === 0 ? (
        <div className={classes.none}>{t('campaigns.nothingYet')}</div>
      ) : (
        <>
          {view === 'chart' && (
            <div className={classes.card}>
              <Suspense fallback={<Skeleton height={220} />}>
                <ReportChart points={shown.map(point => ({ ...point, at: when(point.at) }))} names={names} />
              </Suspense>
            </div>
          )}
          <section
            className={view === 'chart' ? 'rc-hidden' : classes.table}
            aria-label={`${t('campaigns.overTime')}, ${t('growth.table')}`}
            {...(view === 'table' && { tabIndex: 0 })}
          >
            <Table>
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>{t(`campaigns.intervals.${interval}`)}</Table.Th>
                  {KINDS.map(kind => (
                    <Table.Th key={kind} ta="right">
                      {names[kind]}
                    </Table.Th>
                  ))}
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {shown.map(point => (
                  <Table.Tr key={point.at}>
                    <Table.Td>{when(point.at)}</Table.Td>
                    {KINDS.map(kind => (
                      <Table.Td key={kind} ta="right" className="rc-tabular">
                        {point[kind].toLocaleString(i18n.language)}
                      </Table.Td>
                    ))}
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </section>
        </>
      )}
    </Section>
  )
}

function Links({ links }: { links: readonly MailingLink[] }) {
  const { t, i18n } = useTranslation()
  const most = Math.max(1, ...links.map(({ clicks }) => clicks))
  return (
    <Section title={t('campaigns.links')} lead={t('campaigns.linksText')}>
      {links.length === 0 ? (
        <div className={classes.none}>{t('campaigns.noClicks')}</div>
      ) : (
        <ul className={classes.links}>
          {links.map(({ url, clicks, contacts }) => (
            <li key={url}>
              <a className={`rc-link ${classes.url}`} href={url} target="_blank" rel="noreferrer noopener" title={url}>
                {url}
              </a>
              <span className={classes.meter} aria-hidden>
                <span style={{ width: `${(100 * clicks) / most}%` }} />
              </span>
              <span className={classes.number}>
                {t('campaigns.clicksOf', {
                  count: clicks,
                  shown: clicks.toLocaleString(i18n.language),
                  contacts: contacts.toLocaleString(i18n.language),
                })}
              </span>
            </li>
          ))}
        </ul>
      )}
    </Section>
  )
}
