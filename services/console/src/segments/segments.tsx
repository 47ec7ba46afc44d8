import { FilterIcon, PencilIcon, PlusIcon, TrashIcon } from '@primer/octicons-react'
import type { Segment } from '@rollcall/sdk'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { Action, MenuAction } from '../kit/action.tsx'
import { useConfirm } from '../kit/confirm.tsx'
import { Empty } from '../kit/empty.tsx'
import { FilterBar } from '../kit/filter-bar.tsx'
import { MoreMenu } from '../kit/more-menu.tsx'
import { Page } from '../kit/page.tsx'
import { RecordLink } from '../kit/record-link.tsx'
import { type Column, RecordTable } from '../kit/record-table.tsx'
import { SearchBox } from '../kit/search-box.tsx'
import { useCreateKey } from '../kit/use-creating.ts'
import { useList } from '../kit/use-list.ts'
import { When } from '../kit/when.tsx'
import { FilterSentence } from './filter-sentence.tsx'
import { SegmentCount } from './segment-count.tsx'
import { SegmentForm } from './segment-form.tsx'

/** The segments, with how many contacts match each. */
export function Segments() {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const [edited, setEdited] = useState<Segment | 'new'>()
  const add = () => setEdited('new')
  useCreateKey('segments.create', add)
  const view = useList<Segment>(['segments'], ['name'], rollcall.segments.list)
  const { search, change } = view
  const columns: Column<Segment>[] = [
    {
      name: 'name',
      title: t('kit.field.name'),
      sort: 'name',
      render: ({ _id, name, description }) => (
        <RecordLink to="/segments/$id" params={{ id: _id }} name={name} detail={description} />
      ),
    },
    {
      name: 'filter',
      title: t('segments.conditions'),
      isMinor: true,
      render: ({ filter }) => <FilterSentence filter={filter} />,
    },
    {
      name: 'count',
      title: t('segments.contacts'),
      align: 'right',
      width: 120,
      render: ({ _id }) => <SegmentCount id={_id} />,
    },
    {
      name: 'createdBy',
      title: t('segments.createdBy'),
      isMinor: true,
      render: ({ createdBy }) => createdBy.name,
    },
    {
      name: 'createdAt',
      title: t('kit.field.created'),
      sort: 'createdAt',
      isMinor: true,
      render: ({ createdAt }) => <When at={createdAt} />,
    },
  ]
  const addButton = (
    <Action call="segments.create" leftSection={<PlusIcon />} onClick={add}>
      {t('segments.new')}
    </Action>
  )
  return (
    <Page title={t('segments.title')} lead={t('segments.lead')} actions={addButton}>
      <FilterBar
        search={<SearchBox label={t('segments.search')} value={search.q} onChange={q => change({ q })} />}
        choices={[]}
        chips={[]}
        onSet={() => {}}
        onClear={() => change({ q: undefined })}
      />
      <RecordTable
        label={t('segments.title')}
        view={view}
        columns={columns}
        nameOf={({ name }) => name}
        actions={segment => (
          <MoreMenu name={segment.name}>
            <SegmentActions segment={segment} onEdit={() => setEdited(segment)} />
          </MoreMenu>
        )}
        empty={
          <Empty icon={FilterIcon} title={t('segments.empty.title')} action={addButton}>
            {t('segments.empty.text')}
          </Empty>
        }
      />
      {edited && (
        <SegmentForm
          {...(edited !== 'new' && { segment: edited })}
          onClose={() => setEdited(undefined)}
          onCreated={({ _id }) => void navigate({ to: '/segments/$id', params: { id: _id } })}
        />
      )}
    </Page>
  )
}

/** What can be done with a segment. */
export function SegmentActions({
  segment: { _id, name },
  onEdit,
  onDeleted,
}: {
  segment: Segment
  onEdit: () => void
  onDeleted?: () => void
}) {
  const { t } = useTranslation()
  const confirm = useConfirm()
  return (
    <>
      <MenuAction call="segments.update" icon={<PencilIcon />} onClick={onEdit}>
        {t('segments.edit')}
      </MenuAction>
      <MenuAction
        call="segments.delete"
        danger
        icon={<TrashIcon />}
        onClick={() =>
          confirm({
            title: t('segments.deleteTitle', { name }),
            text: t('segments.deleteText'),
            action: t('segments.delete'),
            run: () => rollcall.segments.delete(_id),
            done: t('segments.deleted', { name }),
            ...(onDeleted && { onDone: onDeleted }),
          })
        }
      >
        {t('segments.delete')}
      </MenuAction>
    </>
  )
}
