import { InboxIcon } from '@primer/octicons-react'
import type { Campaign, CampaignRecipient } from '@rollcall/sdk'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { Empty } from '../kit/empty.tsx'
import { FilterBar } from '../kit/filter-bar.tsx'
import { RecordLink } from '../kit/record-link.tsx'
import { type Column, RecordTable } from '../kit/record-table.tsx'
import { SearchBox } from '../kit/search-box.tsx'
import { StatusChip } from '../kit/status-chip.tsx'
import { useList } from '../kit/use-list.ts'
import { When } from '../kit/when.tsx'
import { MessageStatus } from '../messages/message-status.tsx'
import { sentence } from '../server/texts.ts'

const STATUSES = [
  'waiting',
  'queued',
  'sent',
  'delivered',
  'opened',
  'clicked',
  'bounced',
  'complained',
  'failed',
  'suppressed',
] as const satisfies CampaignRecipient['status'][]

/** Who gets a campaign, and what became of each mail. */
export function Recipients({ campaign: { _id } }: { campaign: Campaign }) {
  const { t } = useTranslation()
  const view = useList<CampaignRecipient>(['campaigns', _id, 'recipients'], ['email'], (query, options) =>
    rollcall.campaigns.listRecipients(_id, query, options),
  )
  const { search, change } = view
  const nameOf = (status: CampaignRecipient['status']) =>
    status === 'waiting' ? t('campaigns.counts.waiting') : t(`messages.status.${status}`)
  const chosen = STATUSES.find(each => each === search.filter?.status)
  const columns: Column<CampaignRecipient>[] = [
    {
      name: 'email',
      title: t('kit.field.email'),
      sort: 'email',
      render: ({ email, contact }) => <RecordLink to="/contacts/$id" params={{ id: contact }} name={email} />,
    },
    {
      name: 'status',
      title: t('kit.field.status'),
      sort: 'status',
      render: ({ status }) =>
        status === 'waiting' ? (
          <StatusChip tone="neutral">{nameOf(status)}</StatusChip>
        ) : (
          <MessageStatus status={status} />
        ),
    },
    { name: 'error', title: t('messages.error'), isMinor: true, render: ({ error }) => error && sentence(error) },
    { name: 'at', title: t('messages.when'), sort: 'at', isMinor: true, render: ({ at }) => <When at={at} /> },
  ]
  return (
    <>
      <FilterBar
        search={<SearchBox label={t('campaigns.searchRecipients')} value={search.q} onChange={q => change({ q })} />}
        choices={[
          {
            name: 'status',
            label: t('kit.field.status'),
            options: STATUSES.map(value => ({ value, label: nameOf(value) })),
          },
        ]}
        chips={chosen ? [{ name: 'status', label: t('kit.field.status'), text: nameOf(chosen) }] : []}
        onSet={(_name, value) => change({ filter: value === undefined ? undefined : { status: value } })}
        onClear={() => change({ filter: undefined, q: undefined })}
      />
      <br />
      <RecordTable
        label={t('campaigns.recipients')}
        view={view}
        columns={columns}
        nameOf={({ email }) => email}
        empty={
          <Empty icon={InboxIcon} title={t('campaigns.noRecipients')}>
            {t('campaigns.noRecipientsText')}
          </Empty>
        }
      />
    </>
  )
}
