import { Button, Skeleton } from '@mantine/core'
import { AlertIcon, CheckCircleFillIcon, CheckCircleIcon, CircleIcon } from '@primer/octicons-react'
import type { CallName, List, Page as RecordPage } from '@rollcall/sdk'
import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { Link, type LinkProps } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { CampaignBar, CampaignStatus } from '../campaigns/campaign-status.tsx'
import { GrowthCard } from '../growth/growth-card.tsx'
import { ImportOutcome } from '../imports/import-outcome.tsx'
import { JobState } from '../imports/imports.tsx'
import { Page } from '../kit/page.tsx'
import { useProblemText } from '../kit/problem.ts'
import { When } from '../kit/when.tsx'
import { sentence } from '../server/texts.ts'
import { useMe, useMissing } from '../session.ts'
import type en from './en.ts'
import classes from './overview.module.css'

const SHOWN = 5
const SOON_MS = 14 * 24 * 60 * 60 * 1000
const UNUSED_SINCE = 'now-90d'

/** What the organization has, and what needs doing. */
export function Overview() {
  const { t } = useTranslation()
  const { organization } = useMe()
  const missing = useMissing()
  const mayRead = !missing('contacts.list')
  return (
    <Page title={t('overview.title')} lead={organization.name}>
      {mayRead && <Audience />}
      <div className={classes.columns}>
        <Attention />
        <FirstSteps />
        {!missing('campaigns.list') && <LatestCampaigns />}
        {!missing('lists.list') && <Lists />}
        {mayRead && <LatestImports />}
      </div>
    </Page>
  )
}

/** A page that the overview looks at; not read without its permission. */
function useGlance<T>(
  call: CallName,
  key: string,
  list: (signal: AbortSignal) => List<T>,
): UseQueryResult<RecordPage<T>> {
  const missing = useMissing()
  return useQuery({
    queryKey: [key.split(' ')[0], 'glance', key],
    queryFn: async ({ signal }) => await list(signal),
    enabled: !missing(call),
  })
}

/** How many contacts there are, and how they grew once there are some. */
function Audience() {
  const total = useCount('all', {})
  return (
    <>
      <Numbers total={total} />
      {total.data !== 0 && <GrowthCard />}
    </>
  )
}

function useCount(name: string, filter: object): UseQueryResult<number> {
  const list = async (signal: AbortSignal) => rollcall.contacts.list({ limit: 1, filter }, { signal })
  return useQuery({
    queryKey: ['contacts', 'glance', `contacts ${name}`],
    queryFn: async ({ signal }) => (await list(signal)).totalDocs,
  })
}

function Numbers({ total }: { total: UseQueryResult<number> }) {
  const { t } = useTranslation()
  const reachable = useCount('reachable', { blocked: false, unsubscribed: false })
  const unsubscribed = useCount('unsubscribed', { unsubscribed: true })
  const blocked = useCount('blocked', { blocked: true })
  const share = total.data && reachable.data !== undefined ? Math.round((100 * reachable.data) / total.data) : undefined
  return (
    <div className={classes.frame}>
      <div className={classes.numbers}>
        <NumberCard label={t('overview.contacts')} count={total} to="/contacts" search={{}} />
        <NumberCard
          label={t('overview.reachable')}
          count={reachable}
          {...(share !== undefined && { hint: `${share} %` })}
          to="/contacts"
          search={{ filter: { unsubscribed: false, blocked: false } }}
        />
        <NumberCard
          label={t('overview.unsubscribed')}
          count={unsubscribed}
          to="/contacts"
          search={{ filter: { unsubscribed: true } }}
        />
        <NumberCard
          label={t('overview.blocked')}
          count={blocked}
          to="/contacts"
          search={{ filter: { blocked: true } }}
        />
      </div>
      <Problem of={[total, reachable, unsubscribed, blocked]} />
    </div>
  )
}

function NumberCard({
  label,
  count: { data, isError },
  hint,
  ...link
}: { label: string; count: UseQueryResult<number>; hint?: string } & Pick<LinkProps, 'to' | 'search'>) {
  const { i18n } = useTranslation()
  return (
    <Link {...(link as LinkProps)} className={classes.number}>
      <span className={classes.label}>{label}</span>
      <span className={classes.value}>
        {data?.toLocaleString(i18n.language)}
        {data === undefined && (isError ? '–' : <Skeleton height={24} width={70} mt={6} />)}
        {hint && <span className={classes.hint}>{hint}</span>}
      </span>
    </Link>
  )
}

function Card({ title, all, children }: { title: string; all?: NonNullable<LinkProps['to']>; children: ReactNode }) {
  const { t } = useTranslation()
  return (
    <section className={classes.card}>
      <div className={classes.cardHead}>
        <h2>{title}</h2>
        {all && (
          <Link to={all} aria-label={`${t('overview.showAll')}: ${title}`}>
            {t('overview.showAll')}
          </Link>
        )}
      </div>
      {children}
    </section>
  )
}

/** What failed of a card, with a way to read it again. Nothing while there is something to show. */
function Problem({ of }: { of: readonly UseQueryResult<unknown>[] }) {
  const { t } = useTranslation()
  const problemText = useProblemText()
  const failed = of.filter(({ data, isError }) => isError && data === undefined)
  if (failed.length === 0) return null
  return (
    <div className={classes.problem} role="alert">
      <span className={classes.warn}>
        <AlertIcon />
      </span>
      <span>{problemText(failed[0]!.error)}</span>
      <Button
        size="xs"
        variant="default"
        className={classes.end}
        onClick={() => {
          for (const { refetch } of failed) void refetch()
        }}
      >
        {t('kit.errors.retry')}
      </Button>
    </div>
  )
}

function Attention() {
  const { t } = useTranslation()
  const domains = useGlance('domains.list', 'domains unverified', signal =>
    rollcall.domains.list({ limit: SHOWN, filter: { status: { $ne: 'verified' } } }, { signal }),
  )
  const senders = useGlance('senders.list', 'senders expired', signal =>
    rollcall.senders.list({ limit: SHOWN, filter: { 'oauth.status': 'expired' } }, { signal }),
  )
  const expiring = useGlance('tokens.list', 'tokens expiring', signal => {
    const now = Date.now()
    const expiresAt = { $gte: new Date(now).toISOString(), $lte: new Date(now + SOON_MS).toISOString() }
    return rollcall.tokens.list({ limit: SHOWN, filter: { expiresAt } }, { signal })
  })
  const unused = useGlance('tokens.list', 'tokens unused', signal => {
    const isUnused = [{ lastUsedAt: { $lt: UNUSED_SINCE } }, { lastUsedAt: null, createdAt: { $lt: UNUSED_SINCE } }]
    const filter = { active: true, archived: false, $or: isUnused }
    return rollcall.tokens.list({ limit: SHOWN, filter }, { signal })
  })
  const webhooks = useGlance('webhooks.list', 'webhooks failing', signal => {
    const isFailing = [
      { failingSince: { $gte: 'now-365d' } },
      { disabledReason: { $in: ['failing', 'gone'] as const } },
    ]
    return rollcall.webhooks.list({ limit: SHOWN, filter: { $or: isFailing } }, { signal })
  })
  const campaigns = useGlance('campaigns.list', 'campaigns stopped', signal => {
    const hasStopped = { status: { $in: ['paused', 'failed'] as const }, updatedAt: { $gte: 'now-7d' } }
    return rollcall.campaigns.list({ limit: SHOWN, filter: hasStopped }, { signal })
  })
  const read = [campaigns, domains, senders, webhooks, expiring, unused].filter(({ isEnabled }) => isEnabled)
  if (read.length === 0) return null
  const isClear = read.every(({ data }) => data?.totalDocs === 0)
  const isEmpty = read.every(({ data }) => (data?.totalDocs ?? 0) === 0)
  return (
    <Card title={t('overview.attention')}>
      <ul className={classes.rows}>
        {isClear && (
          <li className={classes.row}>
            <span className={classes.good}>
              <CheckCircleIcon />
            </span>
            <span>{t('overview.allGood')}</span>
          </li>
        )}
        {isEmpty && read.some(({ isLoading }) => isLoading) && <Waiting rows={1} />}
        {campaigns.data?.docs.map(({ _id, name, status, pausedReason, failedReason }) => (
          <Matter key={_id} detail={pausedReason ?? failedReason}>
            <Link to="/campaigns/$id" params={{ id: _id }}>
              {t(status === 'paused' ? 'overview.campaignPaused' : 'overview.campaignFailed', { name })}
            </Link>
          </Matter>
        ))}
        {domains.data?.docs.map(({ _id, domain, status, sendingRecords }) => (
          <Matter key={_id} detail={sendingRecords.find(record => record.status !== 'ok' && record.reason)?.reason}>
            <Link to="/domains/$id" params={{ id: _id }}>
              {t(status === 'pending' ? 'overview.domainPending' : 'overview.domainDegraded', { domain })}
            </Link>
          </Matter>
        ))}
        {senders.data?.docs.map(({ _id, email }) => (
          <Matter key={_id}>
            <Link to="/senders/$id" params={{ id: _id }}>
              {t('overview.senderExpired', { email })}
            </Link>
          </Matter>
        ))}
        {webhooks.data?.docs.map(({ _id, name, active }) => (
          <Matter key={_id}>
            <Link to="/webhooks/$id" params={{ id: _id }}>
              {t(active ? 'overview.webhookFails' : 'overview.webhookStopped', { name })}
            </Link>
          </Matter>
        ))}
        {expiring.data?.docs.map(({ _id, name, expiresAt }) => (
          <Matter key={_id} end={<When at={expiresAt} />}>
            <Link to="/tokens/$id" params={{ id: _id }}>
              {t('overview.tokenExpires', { name })}
            </Link>
          </Matter>
        ))}
        {unused.data?.docs.map(({ _id, name, lastUsedAt }) => (
          <Matter key={_id} end={lastUsedAt ? <When at={lastUsedAt} /> : undefined}>
            <Link to="/tokens/$id" params={{ id: _id }}>
              {t(lastUsedAt ? 'overview.tokenUnused' : 'overview.tokenNeverUsed', { name })}
            </Link>
          </Matter>
        ))}
      </ul>
      <Problem of={read} />
    </Card>
  )
}

/** A line about something that needs attention. */
function Matter({
  detail,
  end,
  children,
}: {
  detail?: string | null | undefined
  end?: ReactNode
  children: ReactNode
}) {
  return (
    <li className={classes.row}>
      <span className={classes.warn}>
        <AlertIcon />
      </span>
      <div>
        {children}
        {detail && <div className={classes.detail}>{sentence(detail)}</div>}
      </div>
      {end && <span className={classes.end}>{end}</span>}
    </li>
  )
}

function FirstSteps() {
  const { t } = useTranslation()
  const one = { limit: 1 }
  const pages: {
    step: keyof typeof en.steps
    to: NonNullable<LinkProps['to']>
    page: UseQueryResult<RecordPage<unknown>>
  }[] = [
    {
      step: 'attributes',
      to: '/attributes',
      page: useGlance<unknown>('attributes.list', 'attributes one', signal =>
        rollcall.attributes.list(one, { signal }),
      ),
    },
    {
      step: 'contacts',
      to: '/imports/new',
      page: useGlance<unknown>('contacts.list', 'contacts one', signal => rollcall.contacts.list(one, { signal })),
    },
    {
      step: 'lists',
      to: '/lists',
      page: useGlance<unknown>('lists.list', 'lists one', signal => rollcall.lists.list(one, { signal })),
    },
    {
      step: 'domains',
      to: '/domains',
      page: useGlance<unknown>('domains.list', 'domains one', signal => rollcall.domains.list(one, { signal })),
    },
    {
      step: 'senders',
      to: '/senders',
      page: useGlance<unknown>('senders.list', 'senders one', signal => rollcall.senders.list(one, { signal })),
    },
    {
      step: 'campaigns',
      to: '/campaigns',
      page: useGlance<unknown>('campaigns.list', 'campaigns one', signal => rollcall.campaigns.list(one, { signal })),
    },
    {
      step: 'tokens',
      to: '/tokens',
      page: useGlance<unknown>('tokens.list', 'tokens one', signal => rollcall.tokens.list(one, { signal })),
    },
  ]
  const known = pages.filter(({ page }) => page.data)
  if (known.length === 0 || known.every(({ page }) => page.data!.totalDocs > 0)) return null
  return (
    <Card title={t('overview.first')}>
      <ol className={classes.rows}>
        {known.map(({ step, to, page }) => {
          const isDone = page.data!.totalDocs > 0
          return (
            <li key={step} className={classes.row} data-done={isDone || undefined}>
              {isDone ? (
                <span className={classes.good}>
                  <CheckCircleFillIcon aria-label={t('overview.done')} />
                </span>
              ) : (
                <CircleIcon aria-label={t('overview.open')} />
              )}
              <Link to={to}>{t(`overview.steps.${step}`)}</Link>
            </li>
          )
        })}
      </ol>
    </Card>
  )
}

function Lists() {
  const { t, i18n } = useTranslation()
  const query = useGlance('lists.list', 'lists largest', signal =>
    rollcall.lists.list({ limit: SHOWN, sort: { memberCount: -1 } }, { signal }),
  )
  const { data, isError } = query
  if (data?.totalDocs === 0) return null
  const most = Math.max(1, data?.docs[0]?.memberCount ?? 1)
  return (
    <Card title={t('overview.lists')} all="/lists">
      <ul className={classes.rows}>
        {!data && !isError && <Waiting />}
        {data?.docs.map(({ _id, name, memberCount }) => (
          <li key={_id} className={classes.row}>
            <Link to="/lists/$id" params={{ id: _id }} className={classes.name}>
              {name}
            </Link>
            <span className={classes.meter} aria-hidden>
              <span style={{ width: `${(100 * memberCount) / most}%` }} />
            </span>
            <span className={classes.end}>{memberCount.toLocaleString(i18n.language)}</span>
          </li>
        ))}
      </ul>
      <Problem of={[query]} />
    </Card>
  )
}

function LatestCampaigns() {
  const { t } = useTranslation()
  const query = useGlance('campaigns.list', 'campaigns latest', signal =>
    rollcall.campaigns.list({ limit: SHOWN, sort: { updatedAt: -1 } }, { signal }),
  )
  const { data, isError } = query
  if (data?.totalDocs === 0) return null
  return (
    <Card title={t('overview.campaigns')} all="/campaigns">
      <ul className={classes.rows}>
        {!data && !isError && <Waiting />}
        {data?.docs.map(({ _id, name, status, startedAt, counts }) => (
          <li key={_id} className={classes.row}>
            <Link to="/campaigns/$id" params={{ id: _id }} className={classes.name}>
              {name}
            </Link>
            {startedAt && <CampaignBar counts={counts} isCompact />}
            <span className={classes.end}>
              <CampaignStatus status={status} />
            </span>
          </li>
        ))}
      </ul>
      <Problem of={[query]} />
    </Card>
  )
}

function LatestImports() {
  const { t } = useTranslation()
  const query = useGlance('imports.listJobs', 'imports latest', signal =>
    rollcall.imports.listJobs({ limit: SHOWN }, { signal }),
  )
  const { data, isError } = query
  if (data?.totalDocs === 0) return null
  return (
    <Card title={t('overview.imports')} all="/imports">
      <ul className={classes.rows}>
        {!data && !isError && <Waiting />}
        {data?.docs.map(job => (
          <li key={job._id} className={classes.row}>
            <Link to="/imports/$id" params={{ id: job._id }} className={classes.name}>
              {job.fileName ?? t('imports.noFile')}
            </Link>
            <ImportOutcome kind={job.kind} result={job.result} isCompact />
            <span className={classes.end}>
              <JobState job={job} />
            </span>
          </li>
        ))}
      </ul>
      <Problem of={[query]} />
    </Card>
  )
}

function Waiting({ rows = SHOWN }: { rows?: number }) {
  return Array.from({ length: rows }, (_, row) => (
    <li key={row} className={classes.row}>
      <Skeleton height={10} width="60%" />
    </li>
  ))
}
