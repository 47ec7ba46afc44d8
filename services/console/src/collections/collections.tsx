import { Menu } from '@mantine/core'
import { DatabaseIcon, PencilIcon, PlusIcon, TrashIcon } from '@primer/octicons-react'
import type { Collection } from '@rollcall/sdk'
import { useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
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
import { useCreating } from '../kit/use-creating.ts'
import { useList } from '../kit/use-list.ts'
import { When } from '../kit/when.tsx'

const CollectionForm = lazy(async () => ({ default: (await import('./collection-form.tsx')).CollectionForm }))

/** The collections: tables of the organization's own. */
export function Collections() {
  const { t, i18n } = useTranslation()
  const navigate = useNavigate()
  const [edited, setEdited] = useState<Collection>()
  const { isCreating, open, close } = useCreating('collections.create')
  const view = useList<Collection>(['collections'], ['name', 'slug'], rollcall.collections.list)
  const columns: Column<Collection>[] = [
    {
      name: 'name',
      title: t('collections.collection'),
      sort: 'name',
      render: ({ _id, name, slug }) => (
        <RecordLink to="/collections/$id" params={{ id: _id }} name={name} detail={<code>{slug}</code>} />
      ),
    },
    {
      name: 'fields',
      title: t('collections.fields'),
      isMinor: true,
      render: ({ fields }) => t('collections.fieldCount', { count: fields.length }),
    },
    {
      name: 'entries',
      title: t('collections.entries'),
      sort: 'entryCount',
      align: 'right',
      render: ({ entryCount }) => entryCount.toLocaleString(i18n.language),
    },
    {
      name: 'created',
      title: t('kit.field.created'),
      sort: 'createdAt',
      isMinor: true,
      render: ({ createdAt }) => <When at={createdAt} />,
    },
  ]
  const create = (
    <Action call="collections.create" leftSection={<PlusIcon />} onClick={open}>
      {t('collections.create')}
    </Action>
  )
  return (
    <Page title={t('collections.title')} lead={t('collections.lead')} actions={create}>
      <FilterBar
        search={<SearchBox label={t('collections.search')} value={view.search.q} onChange={q => view.change({ q })} />}
        choices={[]}
        chips={[]}
        onSet={() => {}}
        onClear={() => {}}
      />
      <RecordTable
        label={t('collections.title')}
        view={view}
        columns={columns}
        nameOf={({ name }) => name}
        actions={collection => <CollectionMenu collection={collection} onEdit={() => setEdited(collection)} />}
        empty={
          <Empty icon={DatabaseIcon} title={t('collections.empty.title')} action={create}>
            {t('collections.empty.text')}
          </Empty>
        }
      />
      <Suspense>
        {isCreating && (
          <CollectionForm
            onClose={close}
            onCreated={({ _id }) => void navigate({ to: '/collections/$id', params: { id: _id } })}
          />
        )}
        {edited && <CollectionForm collection={edited} onClose={() => setEdited(undefined)} />}
      </Suspense>
    </Page>
  )
}

/** What can be done with a collection. */
export function CollectionMenu({
  collection: { _id, name, entryCount },
  variant = 'subtle',
  onEdit,
  onDeleted,
}: {
  collection: Collection
  variant?: 'subtle' | 'default'
  onEdit: () => void
  onDeleted?: () => void
}) {
  const { t, i18n } = useTranslation()
  const confirm = useConfirm()
  return (
    <MoreMenu name={name} variant={variant}>
      <MenuAction call="collections.update" icon={<PencilIcon />} onClick={onEdit}>
        {t('collections.edit')}
      </MenuAction>
      <Menu.Divider />
      <MenuAction
        call="collections.delete"
        danger
        icon={<TrashIcon />}
        onClick={() =>
          confirm({
            title: t('collections.deleteTitle', { name }),
            text: t('collections.deleteText', { number: entryCount.toLocaleString(i18n.language) }),
            action: t('collections.delete'),
            typed: name,
            run: () => rollcall.collections.delete(_id),
            done: t('collections.deleted', { name }),
            ...(onDeleted && { onDone: onDeleted }),
          })
        }
      >
        {t('collections.delete')}
      </MenuAction>
    </MoreMenu>
  )
}
