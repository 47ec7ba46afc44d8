import { ListUnorderedIcon, PlusIcon } from '@primer/octicons-react'
import type { AudienceList } from '@rollcall/sdk'
import { useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { Tags } from '../contacts/contacts.tsx'
import { Action } from '../kit/action.tsx'
import { Empty } from '../kit/empty.tsx'
import { FilterBar } from '../kit/filter-bar.tsx'
import { Page } from '../kit/page.tsx'
import { RecordLink } from '../kit/record-link.tsx'
import { type Column, RecordTable } from '../kit/record-table.tsx'
import { SearchBox } from '../kit/search-box.tsx'
import { StatusChip } from '../kit/status-chip.tsx'
import { useCreating } from '../kit/use-creating.ts'
import { useList } from '../kit/use-list.ts'
import { When } from '../kit/when.tsx'
import { ListForm } from './list-form.tsx'

/** The audience lists. */
export function Lists() {
  const { t, i18n } = useTranslation()
  const navigate = useNavigate()
  const { isCreating, open, close } = useCreating('lists.create')
  const view = useList<AudienceList>(['lists'], ['name'], rollcall.lists.list)
  const { search, change } = view
  const isArchived = search.filter?.archived
  const columns: Column<AudienceList>[] = [
    {
      name: 'name',
      title: t('kit.field.name'),
      sort: 'name',
      render: ({ _id, name, description }) => (
        <RecordLink to="/lists/$id" params={{ id: _id }} name={name} detail={description} />
      ),
    },
    {
      name: 'members',
      title: t('lists.members'),
      sort: 'memberCount',
      align: 'right',
      width: 120,
      render: ({ memberCount }) => memberCount.toLocaleString(i18n.language),
    },
    {
      name: 'active',
      title: t('lists.active'),
      sort: 'activeCount',
      align: 'right',
      width: 120,
      isMinor: true,
      render: ({ activeCount }) => (
        <span title={t('lists.activeHint')}>{activeCount.toLocaleString(i18n.language)}</span>
      ),
    },
    { name: 'tags', title: t('kit.field.tags'), isMinor: true, render: ({ tags }) => <Tags tags={tags} /> },
    {
      name: 'status',
      title: t('kit.field.status'),
      isMinor: true,
      render: ({ archived }) => (
        <StatusChip tone={archived ? 'neutral' : 'good'}>{t(archived ? 'lists.archived' : 'lists.open')}</StatusChip>
      ),
    },
    {
      name: 'createdAt',
      title: t('kit.field.created'),
      sort: 'createdAt',
      isMinor: true,
      render: ({ createdAt }) => <When at={createdAt} />,
    },
  ]
  const create = (
    <Action call="lists.create" leftSection={<PlusIcon />} onClick={open}>
      {t('lists.new')}
    </Action>
  )
  return (
    <Page title={t('lists.title')} lead={t('lists.lead')} actions={create}>
      <FilterBar
        search={<SearchBox label={t('lists.search')} value={search.q} onChange={q => change({ q })} />}
        choices={[
          {
            name: 'archived',
            label: t('kit.field.status'),
            options: [
              { value: 'false', label: t('lists.open') },
              { value: 'true', label: t('lists.archived') },
            ],
          },
        ]}
        chips={
          typeof isArchived === 'boolean'
            ? [
                {
                  name: 'archived',
                  label: t('kit.field.status'),
                  text: t(isArchived ? 'lists.archived' : 'lists.open'),
                },
              ]
            : []
        }
        onSet={(_name, value) => change({ filter: value === undefined ? undefined : { archived: value === 'true' } })}
        onClear={() => change({ filter: undefined, q: undefined })}
      />
      <RecordTable
        label={t('lists.title')}
        view={view}
        columns={columns}
        nameOf={({ name }) => name}
        empty={
          <Empty icon={ListUnorderedIcon} title={t('lists.empty.title')} action={create}>
            {t('lists.empty.text')}
          </Empty>
        }
      />
      {isCreating && (
        <ListForm
          onClose={() => close()}
          onCreated={({ _id }) => void navigate({ to: '/lists/$id', params: { id: _id } })}
        />
      )}
    </Page>
  )
}
