import { Anchor, Button, Group, SegmentedControl, Skeleton, Table, Text } from '@mantine/core'
import { DownloadIcon, GraphIcon, TableIcon } from '@primer/octicons-react'
import type { ClickCount, ClickPoint, Link as LinkRecord } from '@rollcall/sdk'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { lazy, type ReactNode, Suspense, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { Action } from '../kit/action.tsx'
import { BackLink } from '../kit/back-link.tsx'
import { BarChart } from '../kit/bars.tsx'
import { Copyable } from '../kit/copyable.tsx'
import { Facts } from '../kit/facts.tsx'
import { Page } from '../kit/page.tsx'
import { ProblemAlert } from '../kit/problem-alert.tsx'
import { QrCode, qrFile } from '../kit/qr-code.tsx'
import { saveFile } from '../kit/save-file.ts'
import { Section } from '../kit/section.tsx'
import { When } from '../kit/when.tsx'
import { barsOf, PERIODS, type Period, queryOf, sumOf, timeOf } from './clicks.ts'
import en from './en.ts'
import classes from './link.module.css'
import { LinkMenu, LinkState, nameOf } from './links.tsx'

const LinkForm = lazy(async () => ({ default: (await import('./link-form.tsx')).LinkForm }))

/** One short link: where it leads, who follows it, and its QR code. */
export function Link() {
  const { t } = useTranslation()
  const { id } = useParams({ from: '/shell/links/$id' })
  const navigate = useNavigate()
  const [isEditing, setEditing] = useState(false)
  const { data, error, refetch } = useQuery({
    queryKey: ['links', id],
    queryFn: ({ signal }) => rollcall.links.get(id, { signal }),
  })
  const back = <BackLink to="/links">{t('links.back')}</BackLink>
  if (!data)
    return (
      <Page title={t('links.title')} above={back}>
        {error ? <ProblemAlert error={error} onRetry={refetch} /> : <Skeleton height={240} />}
      </Page>
    )
  return (
    <Page
      title={nameOf(data)}
      above={back}
      lead={
        <Group gap="sm">
          <LinkState link={data} />
          <Copyable value={data.shortUrl} what={t('links.slug')} mono />
        </Group>
      }
      actions={
        <>
          <Action call="links.update" variant="default" onClick={() => setEditing(true)}>
            {t('links.edit')}
          </Action>
          <LinkMenu
            link={data}
            variant="default"
            onEdit={() => setEditing(true)}
            onDeleted={() => void navigate({ to: '/links' })}
          />
        </>
      }
    >
      <LinkFacts link={data} />
      <Clicks id={id} />
      <Qr link={data} />
      <Suspense>{isEditing && <LinkForm link={data} onClose={() => setEditing(false)} />}</Suspense>
    </Page>
  )
}

function LinkFacts({ link }: { link: LinkRecord }) {
  const { t, i18n } = useTranslation()
  const number = (value: number) => value.toLocaleString(i18n.language)
  const { url, clicks, uniqueClicks, lastClickedAt, expiresAt, createdBy, createdAt } = link
  return (
    <Facts
      facts={{
        [t('links.url')]: (
          <Anchor href={url} target="_blank" rel="noreferrer noopener">
            {url}
          </Anchor>
        ),
        [t('links.clicks')]: number(clicks),
        [t('links.unique')]: number(uniqueClicks),
        [t('links.last')]: lastClickedAt ? <When at={lastClickedAt} /> : t('links.never'),
        [t('links.expires')]: expiresAt ? <When at={expiresAt} /> : t('links.never'),
        [t('links.by')]: createdBy.name,
        [t('kit.field.created')]: <When at={createdAt} />,
      }}
    />
  )
}

function Clicks({ id }: { id: string }) {
  const { t, i18n } = useTranslation()
  const [period, setPeriod] = useState<Period>('month')
  const [view, setView] = useState('chart')
  const { data, error, refetch } = useQuery({
    queryKey: ['links', id, 'clicks', period],
    queryFn: ({ signal }) => rollcall.links.getClicks(id, queryOf(period), { signal }),
    placeholderData: keepPreviousData,
  })
  const number = (value: number) => value.toLocaleString(i18n.language)
  const sum = data && sumOf(data.series)
  const when = (point: ClickPoint) => timeOf(point, period, i18n.language)
  return (
    <Section
      title={t('links.over')}
      lead={sum && t('links.sum', { clicks: number(sum.clicks), unique: number(sum.unique) })}
      action={
        <>
          <SegmentedControl
            size="xs"
            aria-label={t('links.period')}
            data={(Object.keys(PERIODS) as Period[]).map(value => ({ value, label: t(`links.periods.${value}`) }))}
            value={period}
            onChange={value => setPeriod(value as Period)}
          />
          <SegmentedControl
            size="xs"
            aria-label={t('links.view')}
            data={[
              { value: 'chart', label: <GraphIcon size={14} aria-label={t('links.chart')} /> },
              { value: 'table', label: <TableIcon size={14} aria-label={t('links.table')} /> },
            ]}
            value={view}
            onChange={setView}
          />
        </>
      }
    >
      {error && !data && <ProblemAlert error={error} onRetry={refetch} />}
      {!error && !data && <Skeleton height={160} />}
      {data && view === 'chart' && (
        <BarChart bars={barsOf(data.series)} first={when(data.series[0]!)} last={when(data.series.at(-1)!)} />
      )}
      {data && view === 'table' && <ClickTable points={data.series} when={when} />}
      {data && (
        <div className={classes.shares}>
          <Shares title={t('links.referrers')} counts={data.referrers} />
          <Shares
            title={t('links.devices')}
            counts={data.devices}
            nameOf={name => (name in en.device ? t(`links.device.${name as keyof typeof en.device}`) : name)}
          />
          <Shares
            title={t('links.countries')}
            counts={data.countries}
            nameOf={name => countryName(name, i18n.language)}
            none={sum!.clicks > 0 ? t('links.noCountries') : undefined}
          />
        </div>
      )}
    </Section>
  )
}

/** The numbers of the bars, newest first. */
function ClickTable({ points, when }: { points: readonly ClickPoint[]; when: (point: ClickPoint) => string }) {
  const { t, i18n } = useTranslation()
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrolls by the keyboard
    <section className={classes.table} aria-label={t('links.over')} tabIndex={0}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('links.at')}</Table.Th>
            <Table.Th ta="right">{t('links.clicks')}</Table.Th>
            <Table.Th ta="right">{t('links.unique')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {points.toReversed().map(point => (
            <Table.Tr key={point.at}>
              <Table.Td>{when(point)}</Table.Td>
              <Table.Td ta="right" className="rc-tabular">
                {point.clicks.toLocaleString(i18n.language)}
              </Table.Td>
              <Table.Td ta="right" className="rc-tabular">
                {point.unique.toLocaleString(i18n.language)}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </section>
  )
}

const MOST_SHARES = 8

/** Which part of the clicks came from where. */
function Shares({
  title,
  counts,
  nameOf: nameIn = name => name,
  none,
}: {
  title: string
  counts: readonly ClickCount[]
  nameOf?: (name: string) => string
  none?: ReactNode
}) {
  const { t, i18n } = useTranslation()
  const most = Math.max(1, ...counts.map(({ clicks }) => clicks))
  const labelOf = (name: string | null) => {
    if (name === null) return t('links.unknown')
    return name === 'other' ? t('links.other') : nameIn(name)
  }
  return (
    <section className={classes.share} aria-label={title}>
      <h3>{title}</h3>
      {counts.length === 0 && (
        <Text size="sm" c="dimmed">
          {none ?? t('links.none')}
        </Text>
      )}
      <ul>
        {counts.slice(0, MOST_SHARES).map(({ name, clicks }) => (
          <li key={name}>
            <span className={classes.name}>{labelOf(name)}</span>
            <span className="rc-tabular">{clicks.toLocaleString(i18n.language)}</span>
            <span className={classes.meter} aria-hidden>
              <span style={{ width: `${(100 * clicks) / most}%` }} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}

function countryName(code: string, language: string): string {
  try {
    return new Intl.DisplayNames(language, { type: 'region' }).of(code) ?? code
  } catch {
    return code // not an ISO code
  }
}

function Qr({ link: { shortUrl, slug } }: { link: LinkRecord }) {
  const { t } = useTranslation()
  const save = async (kind: 'svg' | 'png') => saveFile(await qrFile(shortUrl, kind), `${slug}.${kind}`)
  return (
    <Section title={t('links.qr')} lead={t('links.qrText')}>
      <div className={classes.qr}>
        <QrCode text={shortUrl} label={t('links.qrLabel', { url: shortUrl })} />
        <div className={classes.files}>
          <Button variant="default" leftSection={<DownloadIcon />} onClick={() => void save('svg')}>
            {t('links.qrSvg')}
          </Button>
          <Button variant="default" leftSection={<DownloadIcon />} onClick={() => void save('png')}>
            {t('links.qrPng')}
          </Button>
        </div>
      </div>
    </Section>
  )
}
