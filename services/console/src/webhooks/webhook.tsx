import { Alert, Button, Group, SegmentedControl, Skeleton, Text } from '@mantine/core'
import { AlertIcon, PencilIcon, SyncIcon, WebhookIcon } from '@primer/octicons-react'
import type { CreatedWebhook, Delivery, Webhook as WebhookRecord } from '@rollcall/sdk'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { Action, MenuAction } from '../kit/action.tsx'
import { BackLink } from '../kit/back-link.tsx'
import { BarChart } from '../kit/bars.tsx'
import { useAct } from '../kit/confirm.tsx'
import { Copyable } from '../kit/copyable.tsx'
import { Empty } from '../kit/empty.tsx'
import { Facts } from '../kit/facts.tsx'
import { FilterBar } from '../kit/filter-bar.tsx'
import { Page } from '../kit/page.tsx'
import { ProblemAlert } from '../kit/problem-alert.tsx'
import { RecordLink } from '../kit/record-link.tsx'
import { type Column, RecordTable } from '../kit/record-table.tsx'
import { relativeTime } from '../kit/relative-time.ts'
import { Section } from '../kit/section.tsx'
import { showing, useShown } from '../kit/showing.ts'
import { Tag } from '../kit/status-chip.tsx'
import { useFilterChips } from '../kit/use-filter-chips.ts'
import { useList } from '../kit/use-list.ts'
import { When } from '../kit/when.tsx'
import { sentence } from '../server/texts.ts'
import { useMissing } from '../session.ts'
import { deliveryBars } from './delivery-bars.ts'
import { DELIVERY_CHIPS, DELIVERY_STATES } from './delivery-chips.ts'
import { DeliveryState } from './delivery-state.tsx'
import { eventTypesQuery, statsQuery } from './queries.ts'
import { stateOf } from './state.ts'
import { barsOf, PERIODS, type Period, sumOf } from './stats.ts'
import classes from './webhooks.module.css'
import { WebhookMenu, WebhookState } from './webhooks.tsx'

const DeliveryPanel = lazy(async () => ({ default: (await import('./delivery-panel.tsx')).DeliveryPanel }))
const Recover = lazy(async () => ({ default: (await import('./recover.tsx')).Recover }))
const RotateSecret = lazy(async () => ({ default: (await import('./rotate-secret.tsx')).RotateSecret }))
const SendTest = lazy(async () => ({ default: (await import('./send-test.tsx')).SendTest }))
const SigningSecret = lazy(async () => ({ default: (await import('./signing-secret.tsx')).SigningSecret }))
const WebhookForm = lazy(async () => ({ default: (await import('./webhook-form.tsx')).WebhookForm }))

const SHOWN_TYPES = 12
const DAYS = ['1', '7', '14'] as const

type Dialog = 'edit' | 'rotate' | 'recover' | 'test'

/** One endpoint: how it does, what it got, and what to do when it fails. */
export function Webhook() {
  const { t } = useTranslation()
  const { id } = useParams({ from: '/shell/webhooks/$id' })
  const navigate = useNavigate()
  const [dialog, setDialog] = useState<Dialog>()
  const [rotated, setRotated] = useState<CreatedWebhook>()
  const shown = useShown()
  const { data, error, refetch } = useQuery({
    queryKey: ['webhooks', id],
    queryFn: ({ signal }) => rollcall.webhooks.get(id, { signal }),
  })
  const back = <BackLink to="/webhooks">{t('webhooks.back')}</BackLink>
  if (!data)
    return (
      <Page title={t('webhooks.title')} above={back}>
        {error ? <ProblemAlert error={error} onRetry={refetch} /> : <Skeleton height={240} />}
      </Page>
    )
  const close = () => setDialog(undefined)
  return (
    <Page
      title={data.name}
      above={back}
      lead={
        <Group gap="sm">
          <WebhookState webhook={data} />
          {data.description && <span>{data.description}</span>}
        </Group>
      }
      actions={
        <>
          <Action call="webhooks.recover" variant="default" onClick={() => setDialog('recover')}>
            {t('webhooks.recover.action')}
          </Action>
          <Action call="webhooks.test" variant="default" onClick={() => setDialog('test')}>
            {t('webhooks.test.action')}
          </Action>
          <WebhookMenu webhook={data} variant="default" onDeleted={() => void navigate({ to: '/webhooks' })}>
            <MenuAction call="webhooks.update" icon={<PencilIcon />} onClick={() => setDialog('edit')}>
              {t('webhooks.edit')}
            </MenuAction>
            <MenuAction call="webhooks.rotateSecret" icon={<SyncIcon />} onClick={() => setDialog('rotate')}>
              {t('webhooks.rotate.action')}
            </MenuAction>
          </WebhookMenu>
        </>
      }
    >
      <Trouble webhook={data} />
      <WebhookFacts webhook={data} />
      <Stats id={id} />
      <Deliveries id={id} />
      <Suspense>
        {dialog === 'edit' && <WebhookForm webhook={data} onClose={close} />}
        {dialog === 'recover' && <Recover webhook={data} onClose={close} />}
        {dialog === 'test' && <SendTest webhook={data} onClose={close} />}
        {dialog === 'rotate' && (
          <RotateSecret
            webhook={data}
            onClose={close}
            onRotated={webhook => {
              close()
              setRotated(webhook)
            }}
          />
        )}
        {rotated && <SigningSecret webhook={rotated} onClose={() => setRotated(undefined)} />}
        {shown && <DeliveryPanel id={shown} />}
      </Suspense>
    </Page>
  )
}

/** Says why an endpoint gets nothing, and what to do. */
function Trouble({ webhook }: { webhook: WebhookRecord }) {
  const { t, i18n } = useTranslation()
  const act = useAct()
  const state = stateOf(webhook)
  const isTrouble = state !== 'on' && state !== 'off'
  const { data: failed } = useQuery({
    queryKey: ['webhooks', webhook._id, 'last failure'],
    queryFn: async ({ signal }) => {
      const filter = { lastError: { $regex: '.' }, test: false } as const
      const query = { limit: 1, filter, sort: { updatedAt: -1 } } as const
      return (await rollcall.deliveries.list(webhook._id, query, { signal })).docs[0] ?? null
    },
    enabled: isTrouble,
  })
  if (!isTrouble) return null
  const { _id, name, failingSince } = webhook
  const since = failingSince ? relativeTime(new Date(failingSince), new Date(), i18n.language) : ''
  return (
    <Alert color={state === 'failing' ? 'orange' : 'red'} icon={<AlertIcon />} title={t(`webhooks.banner.${state}`)}>
      <Text size="md">
        {state === 'failing' ? t('webhooks.banner.failingText', { when: since }) : t('webhooks.banner.stoppedText')}
      </Text>
      {failed?.lastError && <Text size="md">{t('webhooks.banner.last', { error: sentence(failed.lastError) })}</Text>}
      {state !== 'failing' && (
        <Action
          call="webhooks.update"
          variant="default"
          mt="sm"
          onClick={() =>
            void act({
              run: () => rollcall.webhooks.update(_id, { active: true }),
              done: t('webhooks.didOn', { name }),
            })
          }
        >
          {t('webhooks.on')}
        </Action>
      )}
    </Alert>
  )
}

function WebhookFacts({ webhook }: { webhook: WebhookRecord }) {
  const { t, i18n } = useTranslation()
  const { url, eventTypes, headers, secretPreview, secretExpiresAt, lastSuccessAt, lastFailureAt, pending } = webhook
  const expires = secretExpiresAt && relativeTime(new Date(secretExpiresAt), new Date(), i18n.language)
  const types = eventTypes.slice(0, SHOWN_TYPES)
  return (
    <Facts
      facts={{
        [t('webhooks.url')]: <Copyable value={url} what={t('webhooks.url')} mono />,
        [t('webhooks.secret')]: (
          <>
            <code>{secretPreview}</code>
            {expires && (
              <Text size="sm" c="dimmed">
                {t('webhooks.oldSecret', { when: expires })}
              </Text>
            )}
          </>
        ),
        [t('webhooks.receives')]:
          eventTypes.length === 0 ? (
            t('webhooks.all')
          ) : (
            <Group gap={6}>
              {types.map(type => (
                <Tag key={type}>{type}</Tag>
              ))}
              {eventTypes.length > types.length && t('webhooks.more', { count: eventTypes.length - types.length })}
            </Group>
          ),
        [t('webhooks.ownHeaders')]: headers.length > 0 ? <code>{headers.join(', ')}</code> : undefined,
        [t('webhooks.lastSuccess')]: lastSuccessAt ? <When at={lastSuccessAt} /> : t('webhooks.never'),
        [t('webhooks.lastFailure')]: lastFailureAt ? <When at={lastFailureAt} /> : t('webhooks.never'),
        [t('webhooks.pending')]: pending.toLocaleString(i18n.language),
        [t('webhooks.by')]: webhook.createdBy.name,
        [t('kit.field.created')]: <When at={webhook.createdAt} />,
        [t('kit.field.id')]: <Copyable value={webhook._id} what={t('kit.field.id')} mono />,
      }}
    />
  )
}

function Stats({ id }: { id: string }) {
  const { t, i18n } = useTranslation()
  const [period, setPeriod] = useState<Period>('day')
  const { hours, perBar } = PERIODS[period]
  const { data } = useQuery({ ...statsQuery(id, hours), placeholderData: keepPreviousData })
  const number = (value: number) => value.toLocaleString(i18n.language)
  const sum = data && sumOf(data)
  const when = (at: string) =>
    new Date(at).toLocaleString(i18n.language, {
      day: 'numeric',
      month: 'short',
      ...(period === 'day' && { hour: 'numeric', minute: '2-digit' }),
    })
  const bars = data ? barsOf(data, perBar) : []
  return (
    <Section
      title={t('webhooks.stats.title')}
      lead={sum && t('webhooks.stats.sum', { delivered: number(sum.delivered), failed: number(sum.failed) })}
      action={
        <SegmentedControl
          size="xs"
          aria-label={t('webhooks.stats.period')}
          data={(Object.keys(PERIODS) as Period[]).map(value => ({
            value,
            label: t(`webhooks.stats.periods.${value}`),
          }))}
          value={period}
          onChange={value => setPeriod(value as Period)}
        />
      }
    >
      {data ? (
        <BarChart bars={deliveryBars(bars)} first={when(bars[0]!.at)} last={when(bars.at(-1)!.at)} />
      ) : (
        <Skeleton height={120} />
      )}
    </Section>
  )
}

function Deliveries({ id }: { id: string }) {
  const { t, i18n } = useTranslation()
  const missing = useMissing()
  const view = useList<Delivery>(['webhooks', id, 'deliveries'], ['event.type'], (query, options) =>
    rollcall.deliveries.list(id, query, options),
  )
  const { data: types = [] } = useQuery({ ...eventTypesQuery, enabled: !missing('webhooks.listEventTypes') })
  const choices = [
    {
      name: 'state',
      label: t('kit.field.status'),
      options: DELIVERY_STATES.map(value => ({ value, label: t(`webhooks.deliveries.state.${value}`) })),
    },
    {
      name: 'type',
      label: t('webhooks.deliveries.event'),
      options: types.map(({ type }) => ({ value: type, label: type })),
    },
    {
      name: 'created',
      label: t('webhooks.deliveries.when'),
      isTime: true,
      options: DAYS.map(value => ({ value, label: t('webhooks.deliveries.period', { count: Number(value) }) })),
    },
  ]
  const bar = useFilterChips(DELIVERY_CHIPS, view, { choices })
  const columns: Column<Delivery>[] = [
    {
      name: 'event',
      title: t('webhooks.deliveries.event'),
      sort: 'event.type',
      render: ({ _id, event }) => (
        <RecordLink to="." search={showing(_id)} name={event.type} detail={<code>{event.id}</code>} />
      ),
    },
    {
      name: 'state',
      title: t('kit.field.status'),
      sort: 'state',
      render: delivery => <DeliveryState delivery={delivery} />,
    },
    {
      name: 'answer',
      title: t('webhooks.deliveries.answer'),
      isMinor: true,
      render: ({ lastStatus, lastError }) => (lastError ? sentence(lastError) : lastStatus),
    },
    {
      name: 'attempts',
      title: t('webhooks.deliveries.attempts'),
      sort: 'attemptCount',
      align: 'right',
      isMinor: true,
      render: ({ attemptCount }) => attemptCount.toLocaleString(i18n.language),
    },
    {
      name: 'next',
      title: t('webhooks.deliveries.next'),
      isMinor: true,
      render: ({ nextAttemptAt }) => <When at={nextAttemptAt} />,
    },
    {
      name: 'created',
      title: t('kit.field.created'),
      sort: 'createdAt',
      render: ({ createdAt }) => <When at={createdAt} />,
    },
  ]
  return (
    <Section
      title={t('webhooks.deliveries.title')}
      action={
        <Button
          variant="subtle"
          color="gray"
          leftSection={<SyncIcon size={14} />}
          onClick={() => void view.query.refetch()}
        >
          {t('webhooks.deliveries.refresh')}
        </Button>
      }
    >
      <div className={classes.deliveries}>
        <FilterBar search={null} choices={choices.filter(({ options }) => options.length > 0)} {...bar} />
        <RecordTable
          label={t('webhooks.deliveries.title')}
          view={view}
          columns={columns}
          nameOf={({ event }) => event.type}
          empty={
            <Empty icon={WebhookIcon} title={t('webhooks.deliveries.none')}>
              {t('webhooks.deliveries.noneText')}
            </Empty>
          }
        />
      </div>
    </Section>
  )
}
