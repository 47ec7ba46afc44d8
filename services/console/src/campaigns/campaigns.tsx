import { TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { MegaphoneIcon, PlusIcon } from '@primer/octicons-react'
import type { Campaign } from '@rollcall/sdk'
import { useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { Action } from '../kit/action.tsx'
import { Empty } from '../kit/empty.tsx'
import { FilterBar } from '../kit/filter-bar.tsx'
import { FormModal, fieldProps, useSubmit } from '../kit/form-modal.tsx'
import { Page } from '../kit/page.tsx'
import { RecordLink } from '../kit/record-link.tsx'
import { type Column, RecordTable } from '../kit/record-table.tsx'
import { SearchBox } from '../kit/search-box.tsx'
import { useCreating } from '../kit/use-creating.ts'
import { useList } from '../kit/use-list.ts'
import { When } from '../kit/when.tsx'
import { CampaignMenu } from './campaign-menu.tsx'
import { CampaignBar, CampaignStatus } from './campaign-status.tsx'
import { rateOf, STATUSES } from './status.ts'

/** The campaigns of the organization. */
export function Campaigns() {
  const { t, i18n } = useTranslation()
  const navigate = useNavigate()
  const { isCreating, open, close } = useCreating('campaigns.create')
  const view = useList<Campaign>(['campaigns'], ['name', 'subject'], rollcall.campaigns.list, {
    mayChange: page => page.docs.some(({ status }) => status === 'sending'),
  })
  const { search, change } = view
  const status = STATUSES.find(each => each === search.filter?.status)
  const percent = (share: number | undefined) =>
    share?.toLocaleString(i18n.language, { style: 'percent', maximumFractionDigits: 1 })
  const columns: Column<Campaign>[] = [
    {
      name: 'name',
      title: t('campaigns.campaign'),
      sort: 'name',
      render: ({ _id, name, subject }) => (
        <RecordLink to="/campaigns/$id" params={{ id: _id }} name={name} detail={subject} />
      ),
    },
    {
      name: 'status',
      title: t('kit.field.status'),
      sort: 'status',
      render: campaign => <CampaignStatus {...campaign} />,
    },
    {
      name: 'recipients',
      title: t('campaigns.counts.recipients'),
      isMinor: true,
      render: ({ counts, startedAt }) => startedAt && <CampaignBar counts={counts} isCompact />,
    },
    {
      name: 'sent',
      title: t('campaigns.counts.sent'),
      align: 'right',
      isMinor: true,
      render: ({ counts, startedAt }) =>
        startedAt && <span className="rc-tabular">{counts.sent.toLocaleString(i18n.language)}</span>,
    },
    {
      name: 'opened',
      title: t('campaigns.counts.opened'),
      align: 'right',
      isMinor: true,
      render: ({ counts, track }) => track.opens && percent(rateOf(counts.opened, counts.sent)),
    },
    {
      name: 'clicked',
      title: t('campaigns.counts.clicked'),
      align: 'right',
      isMinor: true,
      render: ({ counts, track }) => track.clicks && percent(rateOf(counts.clicked, counts.sent)),
    },
    {
      name: 'when',
      title: t('campaigns.when'),
      sort: 'updatedAt',
      render: ({ scheduledAt, startedAt, finishedAt, status: state, updatedAt }) => (
        <When at={state === 'scheduled' ? scheduledAt : (finishedAt ?? startedAt ?? updatedAt)} />
      ),
    },
  ]
  const create = (
    <Action call="campaigns.create" leftSection={<PlusIcon />} onClick={open}>
      {t('campaigns.create')}
    </Action>
  )
  return (
    <Page title={t('campaigns.title')} lead={t('campaigns.lead')} actions={create}>
      <FilterBar
        search={<SearchBox label={t('campaigns.search')} value={search.q} onChange={q => change({ q })} />}
        choices={[
          {
            name: 'status',
            label: t('kit.field.status'),
            options: STATUSES.map(value => ({ value, label: t(`campaigns.status.${value}`) })),
          },
        ]}
        chips={status ? [{ name: 'status', label: t('kit.field.status'), text: t(`campaigns.status.${status}`) }] : []}
        onSet={(_name, value) => change({ filter: value === undefined ? undefined : { status: value } })}
        onClear={() => change({ filter: undefined, q: undefined })}
      />
      <RecordTable
        label={t('campaigns.title')}
        view={view}
        columns={columns}
        nameOf={({ name }) => name}
        actions={campaign => <CampaignMenu campaign={campaign} />}
        empty={
          <Empty icon={MegaphoneIcon} title={t('campaigns.empty.title')} action={create}>
            {t('campaigns.empty.text')}
          </Empty>
        }
      />
      {isCreating && (
        <NewCampaign
          onClose={close}
          onCreated={({ _id }) =>
            void navigate({ to: '/campaigns/$id/edit/$step', params: { id: _id, step: 'content' } })
          }
        />
      )}
    </Page>
  )
}

function NewCampaign({ onClose, onCreated }: { onClose: () => void; onCreated: (campaign: Campaign) => void }) {
  const { t } = useTranslation()
  const form = useForm({ initialValues: { name: '', subject: '' } })
  const submit = useSubmit(form, {
    send: values => rollcall.campaigns.create({ ...values, track: { opens: true, clicks: true } }),
    onDone: created => {
      onClose()
      onCreated(created)
    },
  })
  return (
    <FormModal title={t('campaigns.create')} form={form} submit={submit} action={t('kit.create')} onClose={onClose}>
      <TextInput
        label={t('kit.field.name')}
        description={t('campaigns.nameHint')}
        autoComplete="off"
        data-autofocus
        {...fieldProps('campaigns.create', 'name')}
        {...form.getInputProps('name')}
      />
      <TextInput
        label={t('campaigns.subject')}
        autoComplete="off"
        {...fieldProps('campaigns.create', 'subject')}
        {...form.getInputProps('subject')}
      />
    </FormModal>
  )
}
