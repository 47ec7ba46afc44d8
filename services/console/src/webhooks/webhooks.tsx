import { Menu, Text } from '@mantine/core'
import { BookIcon, PlusIcon, TrashIcon, WebhookIcon } from '@primer/octicons-react'
import type { CreatedWebhook, Webhook } from '@rollcall/sdk'
import { useQuery } from '@tanstack/react-query'
import { lazy, type ReactNode, Suspense, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { Action, MenuAction } from '../kit/action.tsx'
import { Bars } from '../kit/bars.tsx'
import { ButtonLink } from '../kit/button-link.tsx'
import { useAct, useConfirm } from '../kit/confirm.tsx'
import { Empty } from '../kit/empty.tsx'
import { FilterBar } from '../kit/filter-bar.tsx'
import { MoreMenu } from '../kit/more-menu.tsx'
import { Page } from '../kit/page.tsx'
import { RecordLink } from '../kit/record-link.tsx'
import { type Column, RecordTable } from '../kit/record-table.tsx'
import { SearchBox } from '../kit/search-box.tsx'
import { StatusChip } from '../kit/status-chip.tsx'
import { useCreating } from '../kit/use-creating.ts'
import { useList } from '../kit/use-list.ts'
import { When } from '../kit/when.tsx'
import { deliveryBars } from './delivery-bars.ts'
import { statsQuery } from './queries.ts'
import { stateOf, TONES } from './state.ts'
import { PERIODS, rateOf, sumOf } from './stats.ts'
import classes from './webhooks.module.css'

const WebhookForm = lazy(async () => ({ default: (await import('./webhook-form.tsx')).WebhookForm }))
const SigningSecret = lazy(async () => ({ default: (await import('./signing-secret.tsx')).SigningSecret }))

/** The endpoints that receive events. */
export function Webhooks() {
  const { t } = useTranslation()
  const [created, setCreated] = useState<CreatedWebhook>()
  const { isCreating, open, close } = useCreating('webhooks.create')
  const view = useList<Webhook>(['webhooks'], ['name', 'url'], rollcall.webhooks.list)
  const columns: Column<Webhook>[] = [
    {
      name: 'name',
      title: t('webhooks.endpoint'),
      sort: 'name',
      render: ({ _id, name, url }) => (
        <RecordLink to="/webhooks/$id" params={{ id: _id }} name={name} detail={<code>{url}</code>} />
      ),
    },
    { name: 'state', title: t('kit.field.status'), render: webhook => <WebhookState webhook={webhook} /> },
    { name: 'types', title: t('webhooks.receives'), isMinor: true, render: webhook => <Receives webhook={webhook} /> },
    { name: 'day', title: t('webhooks.lastDay'), isMinor: true, render: ({ _id }) => <LastDay id={_id} /> },
    {
      name: 'lastSuccess',
      title: t('webhooks.lastSuccess'),
      sort: 'lastSuccessAt',
      isMinor: true,
      render: ({ lastSuccessAt }) =>
        lastSuccessAt ? <When at={lastSuccessAt} /> : <Dimmed text={t('webhooks.never')} />,
    },
  ]
  const create = (
    <Action call="webhooks.create" leftSection={<PlusIcon />} onClick={open}>
      {t('webhooks.create')}
    </Action>
  )
  return (
    <Page
      title={t('webhooks.title')}
      lead={t('webhooks.lead')}
      actions={
        <>
          <ButtonLink to="/webhooks/event-types" icon={<BookIcon />}>
            {t('webhooks.catalog.title')}
          </ButtonLink>
          {create}
        </>
      }
    >
      <FilterBar
        search={<SearchBox label={t('webhooks.search')} value={view.search.q} onChange={q => view.change({ q })} />}
        choices={[]}
        chips={[]}
        onSet={() => {}}
        onClear={() => {}}
      />
      <RecordTable
        label={t('webhooks.title')}
        view={view}
        columns={columns}
        nameOf={({ name }) => name}
        actions={webhook => <WebhookMenu webhook={webhook} />}
        empty={
          <Empty icon={WebhookIcon} title={t('webhooks.empty.title')} action={create}>
            {t('webhooks.empty.text')}
          </Empty>
        }
      />
      <Suspense>
        {isCreating && (
          <WebhookForm
            onClose={close}
            onCreated={webhook => {
              close()
              setCreated(webhook)
            }}
          />
        )}
        {created && <SigningSecret webhook={created} onClose={() => setCreated(undefined)} />}
      </Suspense>
    </Page>
  )
}

/** The state of an endpoint, as a chip. */
export function WebhookState({ webhook }: { webhook: Webhook }) {
  const { t } = useTranslation()
  const state = stateOf(webhook)
  return <StatusChip tone={TONES[state]}>{t(`webhooks.state.${state}`)}</StatusChip>
}

function Receives({ webhook: { eventTypes } }: { webhook: Webhook }) {
  const { t } = useTranslation()
  if (eventTypes.length === 0) return t('webhooks.all')
  return eventTypes.length === 1 ? <code>{eventTypes[0]}</code> : t('webhooks.types', { count: eventTypes.length })
}

function LastDay({ id }: { id: string }) {
  const { t, i18n } = useTranslation()
  const { data: hours } = useQuery(statsQuery(id, PERIODS.day.hours))
  if (!hours) return null
  const rate = rateOf(sumOf(hours))
  if (rate === undefined) return <Dimmed text={t('webhooks.none')} />
  // 99.96 % is not 100 %.
  const percent = (Math.floor(rate * 1000) / 1000).toLocaleString(i18n.language, {
    style: 'percent',
    maximumFractionDigits: 1,
  })
  return (
    <span className={classes.day}>
      <Bars bars={deliveryBars(hours)} isSmall />
      <span className="rc-tabular">{t('webhooks.rate', { rate: percent })}</span>
    </span>
  )
}

function Dimmed({ text }: { text: string }) {
  return (
    <Text span c="dimmed" size="sm">
      {text}
    </Text>
  )
}

/** What can be done with an endpoint. */
export function WebhookMenu({
  webhook: { _id, name, active },
  variant = 'subtle',
  onDeleted,
  children,
}: {
  webhook: Webhook
  variant?: 'subtle' | 'default'
  onDeleted?: () => void
  children?: ReactNode
}) {
  const { t } = useTranslation()
  const act = useAct()
  const confirm = useConfirm()
  return (
    <MoreMenu name={name} variant={variant}>
      {children}
      <MenuAction
        call="webhooks.update"
        onClick={() =>
          void act({
            run: () => rollcall.webhooks.update(_id, { active: !active }),
            done: t(active ? 'webhooks.didOff' : 'webhooks.didOn', { name }),
          })
        }
      >
        {t(active ? 'webhooks.off' : 'webhooks.on')}
      </MenuAction>
      <Menu.Divider />
      <MenuAction
        call="webhooks.delete"
        danger
        icon={<TrashIcon />}
        onClick={() =>
          confirm({
            title: t('webhooks.deleteTitle', { name }),
            text: t('webhooks.deleteText'),
            action: t('webhooks.delete'),
            run: () => rollcall.webhooks.delete(_id),
            done: t('webhooks.deleted', { name }),
            ...(onDeleted && { onDone: onDeleted }),
          })
        }
      >
        {t('webhooks.delete')}
      </MenuAction>
    </MoreMenu>
  )
}
