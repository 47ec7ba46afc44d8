import { MailIcon, PaperAirplaneIcon } from '@primer/octicons-react'
import type { Message } from '@rollcall/sdk'
import { lazy, Suspense } from 'react'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { Action } from '../kit/action.tsx'
import { Empty } from '../kit/empty.tsx'
import { FilterBar, type FilterChoice } from '../kit/filter-bar.tsx'
import { Page } from '../kit/page.tsx'
import { RecordLink } from '../kit/record-link.tsx'
import { type Column, RecordTable } from '../kit/record-table.tsx'
import { SearchBox } from '../kit/search-box.tsx'
import { showing, useShown } from '../kit/showing.ts'
import { useCreating } from '../kit/use-creating.ts'
import { useFilterChips } from '../kit/use-filter-chips.ts'
import { useList } from '../kit/use-list.ts'
import { When } from '../kit/when.tsx'
import { MessageStatus } from './message-status.tsx'
import { KINDS, MESSAGE_CHIPS, STATUSES } from './status.ts'

const MessagePanel = lazy(async () => ({ default: (await import('./message-panel.tsx')).MessagePanel }))
const SendMessage = lazy(async () => ({ default: (await import('./send-message.tsx')).SendMessage }))

const PERIODS = ['1', '7', '30'] as const

/** The mails of the organization. */
export function Messages() {
  const { t } = useTranslation()
  const { isCreating, open, close } = useCreating('messages.send')
  const shown = useShown()
  const view = useList<Message>(['messages'], ['to', 'subject'], rollcall.messages.list)
  const { search, change } = view
  const choices: FilterChoice[] = [
    {
      name: 'status',
      label: t('messages.chips.status'),
      options: STATUSES.map(value => ({ value, label: t(`messages.status.${value}`) })),
    },
    {
      name: 'kind',
      label: t('messages.chips.kind'),
      options: KINDS.map(value => ({ value, label: t(`messages.kind.${value}`) })),
    },
    {
      name: 'when',
      label: t('messages.chips.when'),
      isTime: true,
      options: PERIODS.map(value => ({ value, label: t('messages.period', { count: Number(value) }) })),
    },
  ]
  const bar = useFilterChips(MESSAGE_CHIPS, view, { choices })
  const columns: Column<Message>[] = [
    {
      name: 'to',
      title: t('messages.to'),
      sort: 'to',
      render: ({ _id, to, subject }) => <RecordLink to="." search={showing(_id)} name={to} detail={subject} />,
    },
    {
      name: 'status',
      title: t('kit.field.status'),
      sort: 'status',
      render: ({ status }) => <MessageStatus status={status} />,
    },
    {
      name: 'kind',
      title: t('kit.field.kind'),
      sort: 'kind',
      isMinor: true,
      render: ({ kind }) => t(`messages.kind.${kind}`),
    },
    { name: 'from', title: t('messages.from'), sort: 'from', isMinor: true, render: ({ from }) => from },
    {
      name: 'when',
      title: t('messages.when'),
      sort: 'createdAt',
      render: ({ createdAt, sentAt, sendAt }) => <When at={sentAt ?? sendAt ?? createdAt} />,
    },
  ]
  const send = (
    <Action call="messages.send" leftSection={<PaperAirplaneIcon />} onClick={open}>
      {t('messages.send')}
    </Action>
  )
  return (
    <Page title={t('messages.title')} lead={t('messages.lead')} actions={send}>
      <FilterBar
        search={<SearchBox label={t('messages.search')} value={search.q} onChange={q => change({ q })} />}
        choices={choices}
        {...bar}
      />
      <RecordTable
        label={t('messages.title')}
        view={view}
        columns={columns}
        nameOf={({ to }) => to}
        empty={
          <Empty icon={MailIcon} title={t('messages.empty.title')} action={send}>
            {t('messages.empty.text')}
          </Empty>
        }
      />
      <Suspense>
        {isCreating && <SendMessage onClose={close} />}
        {shown && <MessagePanel id={shown} />}
      </Suspense>
    </Page>
  )
}
