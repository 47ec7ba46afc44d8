import { Alert, Group, Skeleton, Tabs } from '@mantine/core'
import { AlertIcon, ClockIcon, PauseIcon, PencilIcon, PlayIcon, SyncIcon, XIcon } from '@primer/octicons-react'
import type { Campaign as CampaignRecord } from '@rollcall/sdk'
import { useQuery } from '@tanstack/react-query'
import { Link, Navigate, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { allListsQuery } from '../contacts/queries.ts'
import { Action, MenuAction } from '../kit/action.tsx'
import { BackLink } from '../kit/back-link.tsx'
import { useAct, useConfirm } from '../kit/confirm.tsx'
import { Copyable } from '../kit/copyable.tsx'
import { ExportButton } from '../kit/export-button.tsx'
import { Facts } from '../kit/facts.tsx'
import type { ListSearch } from '../kit/list-search.ts'
import { MailPreview } from '../kit/mail-preview.tsx'
import { Page } from '../kit/page.tsx'
import { ProblemAlert } from '../kit/problem-alert.tsx'
import { Tag } from '../kit/status-chip.tsx'
import { useChangeSearch } from '../kit/use-list.ts'
import { When } from '../kit/when.tsx'
import { allSegmentsQuery } from '../segments/queries.ts'
import { sentence } from '../server/texts.ts'
import { useMissing } from '../session.ts'
import { CampaignMenu } from './campaign-menu.tsx'
import { CampaignStatus } from './campaign-status.tsx'
import { Progress } from './progress.tsx'
import { allSendersQuery, allTemplatesQuery, campaignQuery } from './queries.ts'
import { Recipients } from './recipients.tsx'
import { Report } from './report.tsx'
import { isEditable } from './status.ts'

/** One campaign that is scheduled, under way or over: how it goes, who got it, what it says. */
export function Campaign() {
  const { t } = useTranslation()
  const { id } = useParams({ from: '/shell/campaigns/$id' })
  const navigate = useNavigate()
  const { data, error, refetch } = useQuery(campaignQuery(id))
  const back = <BackLink to="/campaigns">{t('campaigns.back')}</BackLink>
  if (!data)
    return (
      <Page title={t('campaigns.title')} above={back}>
        {error ? <ProblemAlert error={error} onRetry={refetch} /> : <Skeleton height={320} />}
      </Page>
    )
  if (data.status === 'draft')
    return <Navigate to="/campaigns/$id/edit/$step" params={{ id, step: 'content' }} replace />
  return (
    <Page
      title={data.name}
      above={back}
      lead={
        <Group gap="sm">
          <CampaignStatus {...data} />
          <span>{data.subject}</span>
        </Group>
      }
      actions={<Actions campaign={data} onDeleted={() => void navigate({ to: '/campaigns' })} />}
    >
      <Notice campaign={data} />
      {data.startedAt ? <Started campaign={data} /> : <Content campaign={data} />}
    </Page>
  )
}

function Actions({ campaign, onDeleted }: { campaign: CampaignRecord; onDeleted: () => void }) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const act = useAct()
  const confirm = useConfirm()
  const { _id, name, status, counts, startedAt } = campaign
  const canRetry = counts.failed > 0 && (status === 'sent' || status === 'paused')
  const retry = () => void act({ run: () => rollcall.campaigns.retry(_id), done: t('campaigns.retried', { name }) })
  const cancel = () =>
    confirm({
      title: t('campaigns.cancelTitle', { name }),
      text: t('campaigns.cancelText', { count: counts.waiting }),
      action: t('campaigns.cancel'),
      run: () => rollcall.campaigns.cancel(_id),
      done: t('campaigns.cancelled', { name }),
    })
  return (
    <>
      {status === 'sending' && (
        <Action
          call="campaigns.pause"
          variant="default"
          leftSection={<PauseIcon />}
          onClick={() => void act({ run: () => rollcall.campaigns.pause(_id), done: t('campaigns.paused', { name }) })}
        >
          {t('campaigns.pause')}
        </Action>
      )}
      {status === 'paused' && (
        <Action
          call="campaigns.resume"
          leftSection={<PlayIcon />}
          onClick={() =>
            void act({ run: () => rollcall.campaigns.resume(_id), done: t('campaigns.resumed', { name }) })
          }
        >
          {t('campaigns.resume')}
        </Action>
      )}
      {canRetry && (
        <Action call="campaigns.retry" variant="default" leftSection={<SyncIcon />} onClick={retry}>
          {t('campaigns.retry')}
        </Action>
      )}
      {isEditable(campaign) && (
        <>
          <Action
            call="campaigns.cancel"
            variant="default"
            onClick={() =>
              void act({ run: () => rollcall.campaigns.cancel(_id), done: t('campaigns.unscheduled', { name }) })
            }
          >
            {t('campaigns.unschedule')}
          </Action>
          <Action
            call="campaigns.update"
            leftSection={<PencilIcon />}
            onClick={() => void navigate({ to: '/campaigns/$id/edit/$step', params: { id: _id, step: 'content' } })}
          >
            {t('kit.edit')}
          </Action>
        </>
      )}
      {startedAt && (
        <ExportButton call="campaigns.export" name="recipients.csv" download={() => rollcall.campaigns.export(_id)}>
          {t('campaigns.export')}
        </ExportButton>
      )}
      <CampaignMenu campaign={campaign} variant="default" onDeleted={onDeleted}>
        {(status === 'sending' || status === 'paused') && (
          <MenuAction call="campaigns.cancel" danger icon={<XIcon />} onClick={cancel}>
            {t('campaigns.cancel')}
          </MenuAction>
        )}
      </CampaignMenu>
    </>
  )
}

/** Says what a campaign waits for, or why it stopped. */
function Notice({ campaign: { status, scheduledAt, pausedReason, failedReason } }: { campaign: CampaignRecord }) {
  const { t, i18n } = useTranslation()
  if (status === 'scheduled' && scheduledAt) {
    const when = new Date(scheduledAt).toLocaleString(i18n.language, { dateStyle: 'full', timeStyle: 'short' })
    return (
      <Alert color="indigo" icon={<ClockIcon />} title={t('campaigns.scheduledFor', { when })}>
        {t('campaigns.scheduleText')}
      </Alert>
    )
  }
  if (status === 'paused' && pausedReason)
    return (
      <Alert color="orange" icon={<AlertIcon />} title={t('campaigns.pausedItself')}>
        {t('campaigns.because', { reason: sentence(pausedReason) })}
        <br />
        {t('campaigns.pausedHelp')}
      </Alert>
    )
  if (failedReason)
    return (
      <Alert color="red" icon={<AlertIcon />} title={t('campaigns.failedAt')}>
        {t('campaigns.because', { reason: sentence(failedReason) })}
      </Alert>
    )
  return null
}

function Started({ campaign }: { campaign: CampaignRecord }) {
  const { t } = useTranslation()
  const { tab = 'report' } = useSearch({ strict: false }) as ListSearch
  const change = useChangeSearch()
  return (
    <>
      <Progress campaign={campaign} />
      <Tabs
        value={tab}
        onChange={value =>
          change({
            tab: value === 'report' ? undefined : (value ?? undefined),
            q: undefined,
            filter: undefined,
            sort: undefined,
          })
        }
        keepMounted={false}
      >
        <Tabs.List>
          <Tabs.Tab value="report">{t('campaigns.report')}</Tabs.Tab>
          <Tabs.Tab value="recipients">{t('campaigns.recipients')}</Tabs.Tab>
          <Tabs.Tab value="content">{t('campaigns.content')}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="report" pt="lg">
          <Report campaign={campaign} />
        </Tabs.Panel>
        <Tabs.Panel value="recipients" pt="lg">
          <Recipients campaign={campaign} />
        </Tabs.Panel>
        <Tabs.Panel value="content" pt="lg">
          <Content campaign={campaign} />
        </Tabs.Panel>
      </Tabs>
    </>
  )
}

function Content({ campaign }: { campaign: CampaignRecord }) {
  const { t, i18n } = useTranslation()
  const { _id, preheader, track, ratePerMinute, startedAt, finishedAt, createdBy } = campaign
  const counted = [track.opens && t('campaigns.trackOpens'), track.clicks && t('campaigns.trackClicks')].filter(Boolean)
  return (
    <>
      <Facts
        facts={{
          [t('campaigns.sender')]: <SenderName id={campaign.sender} />,
          [t('campaigns.lists')]: <Audience campaign={campaign} />,
          [t('campaigns.template')]: campaign.template ? <TemplateName id={campaign.template} /> : undefined,
          [t('campaigns.preheader')]: preheader ?? undefined,
          [t('campaigns.tracking')]: counted.length > 0 ? counted.join(', ') : t('campaigns.nothingCounted'),
          [t('campaigns.rate')]: ratePerMinute?.toLocaleString(i18n.language) ?? t('campaigns.rateNone'),
          [t('campaigns.startedAt')]: startedAt ? <When at={startedAt} /> : undefined,
          [t('campaigns.finishedAt')]: finishedAt ? <When at={finishedAt} /> : undefined,
          [t('campaigns.by')]: createdBy.name,
          [t('kit.field.id')]: <Copyable value={_id} what={t('kit.field.id')} mono />,
        }}
      />
      <br />
      <MailPreview
        lead={t('campaigns.previewText')}
        rendering={{
          call: 'campaigns.preview',
          key: ['campaigns', _id],
          content: {},
          render: (given, options) => rollcall.campaigns.preview(_id, given, options),
        }}
      />
    </>
  )
}

function SenderName({ id }: { id: string | null }) {
  const { t } = useTranslation()
  const missing = useMissing()
  const { data = [] } = useQuery({ ...allSendersQuery, enabled: !missing('senders.list') })
  const sender = data.find(({ _id, isDefault }) => (id ? _id === id : isDefault))
  if (!sender) return t(id ? 'campaigns.otherSender' : 'campaigns.defaultSender')
  return (
    <Link className="rc-link" to="/senders/$id" params={{ id: sender._id }}>
      {sender.email}
    </Link>
  )
}

function TemplateName({ id }: { id: string }) {
  const { t } = useTranslation()
  const { data = [] } = useQuery(allTemplatesQuery)
  return (
    <Link className="rc-link" to="/templates/$id" params={{ id }}>
      {data.find(({ _id }) => _id === id)?.name ?? t('campaigns.deletedTemplate')}
    </Link>
  )
}

function Audience({ campaign: { lists, segments, excludeLists } }: { campaign: CampaignRecord }) {
  const { t } = useTranslation()
  const missing = useMissing()
  const { data: allLists = [] } = useQuery({ ...allListsQuery, enabled: !missing('lists.list') })
  const { data: allSegments = [] } = useQuery({ ...allSegmentsQuery, enabled: !missing('segments.list') })
  const nameOf = (records: readonly { _id: string; name: string }[], id: string) =>
    records.find(({ _id }) => _id === id)?.name ?? id
  return (
    <Group gap={6}>
      {lists.map(id => (
        <Tag key={id}>{nameOf(allLists, id)}</Tag>
      ))}
      {segments.map(id => (
        <Tag key={id}>{nameOf(allSegments, id)}</Tag>
      ))}
      {excludeLists.map(id => (
        <Tag key={id}>{t('campaigns.without', { name: nameOf(allLists, id) })}</Tag>
      ))}
    </Group>
  )
}
