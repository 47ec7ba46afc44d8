import { SegmentedControl, Skeleton, Table } from '@mantine/core'
import { GraphIcon, TableIcon } from '@primer/octicons-react'
import type { GrowthPoint } from '@rollcall/sdk'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { ProblemAlert } from '../kit/problem-alert.tsx'
import classes from './growth.module.css'
import { PERIODS, type Period, queryOf, sumsOf } from './series.ts'

const GrowthCharts = lazy(async () => ({ default: (await import('./charts.tsx')).GrowthCharts }))

/** How all contacts, or the members of a list, grew: as charts, or as a table. */
export function GrowthCard({ list }: { list?: string }) {
  const { t, i18n } = useTranslation()
  const [period, setPeriod] = useState<Period>('month')
  const [view, setView] = useState<'chart' | 'table'>('chart')
  const { data, error, refetch } = useQuery({
    queryKey: list ? ['lists', list, 'growth', period] : ['contacts', 'growth', period],
    queryFn: ({ signal }) => rollcall.contacts.getGrowth({ ...queryOf(period), ...(list && { list }) }, { signal }),
    placeholderData: keepPreviousData,
  })
  const names = {
    total: t('growth.total'),
    created: t(list ? 'growth.joined' : 'growth.created'),
    unsubscribed: t('growth.unsubscribed'),
    deleted: t(list ? 'growth.left' : 'growth.deleted'),
  }
  const sums = data && sumsOf(data)
  const signed = (value: number) => value.toLocaleString(i18n.language, { signDisplay: 'exceptZero' })
  return (
    <section className={classes.card} aria-label={t('growth.title')}>
      <div className={classes.head}>
        <h2>{t('growth.title')}</h2>
        {sums && (
          <span className={classes.net}>
            {t('growth.net', { change: signed(sums.net), period: t(`growth.periods.${period}`) })}
          </span>
        )}
        <div className={classes.controls}>
          <SegmentedControl
            size="xs"
            aria-label={t('growth.period')}
            data={(Object.keys(PERIODS) as Period[]).map(value => ({ value, label: t(`growth.periods.${value}`) }))}
            value={period}
            onChange={value => setPeriod(value as Period)}
          />
          <SegmentedControl
            size="xs"
            aria-label={t('growth.view')}
            data={[
              { value: 'chart', label: <GraphIcon size={14} aria-label={t('growth.chart')} /> },
              { value: 'table', label: <TableIcon size={14} aria-label={t('growth.table')} /> },
            ]}
            value={view}
            onChange={value => setView(value as 'chart' | 'table')}
          />
        </div>
      </div>
      <div className={classes.body}>
        {error && !data && <ProblemAlert error={error} onRetry={refetch} />}
        {!error && !data && <Skeleton height={310} />}
        {data && view === 'chart' && (
          <Suspense fallback={<Skeleton height={310} />}>
            <GrowthCharts points={data} names={names} />
          </Suspense>
        )}
        {data && <GrowthTable points={data} names={names} period={period} isHidden={view === 'chart'} />}
      </div>
    </section>
  )
}

/** The numbers of the charts, newest first; hidden from eyes beside the charts. */
function GrowthTable({
  points,
  names,
  period,
  isHidden,
}: {
  points: readonly GrowthPoint[]
  names: Record<'total' | 'created' | 'unsubscribed' | 'deleted', string>
  period: Period
  isHidden: boolean
}) {
  const { t, i18n } = useTranslation()
  const kinds = ['created', 'unsubscribed', 'deleted', 'total'] as const
  const day = (at: string) => new Date(at).toLocaleDateString(i18n.language, { dateStyle: 'medium', timeZone: 'UTC' })
  return (
    <section
      className={isHidden ? 'rc-hidden' : classes.table}
      aria-label={t('growth.caption', { period: t(`growth.periods.${period}`) })}
      {...(!isHidden && { tabIndex: 0 })}
    >
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t(PERIODS[period].interval === 'day' ? 'growth.day' : 'growth.week')}</Table.Th>
            {kinds.map(kind => (
              <Table.Th key={kind} ta="right">
                {names[kind]}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {points.toReversed().map(point => (
            <Table.Tr key={point.at}>
              <Table.Td>{day(point.at)}</Table.Td>
              {kinds.map(kind => (
                <Table.Td key={kind} ta="right" className="rc-tabular">
                  {point[kind].toLocaleString(i18n.language)}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </section>
  )
}
