import { Menu, Skeleton, Stack, Tabs, Text } from '@mantine/core'
import { DatabaseIcon, PencilIcon, PlusIcon, TrashIcon } from '@primer/octicons-react'
import type { CollectionField, Collection as CollectionRecord, Entry } from '@rollcall/sdk'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { shownValue } from '../contacts/value.ts'
import { Action, MenuAction } from '../kit/action.tsx'
import { BackLink } from '../kit/back-link.tsx'
import { useConfirm } from '../kit/confirm.tsx'
import { Empty } from '../kit/empty.tsx'
import { ExportButton } from '../kit/export-button.tsx'
import { FilterBar } from '../kit/filter-bar.tsx'
import { MoreMenu } from '../kit/more-menu.tsx'
import { Page } from '../kit/page.tsx'
import { ProblemAlert } from '../kit/problem-alert.tsx'
import { RecordLink } from '../kit/record-link.tsx'
import { type Column, RecordTable } from '../kit/record-table.tsx'
import { relativeTime } from '../kit/relative-time.ts'
import { showing, useShown } from '../kit/showing.ts'
import { useCreating } from '../kit/use-creating.ts'
import { type ListView, useList } from '../kit/use-list.ts'
import { When } from '../kit/when.tsx'
import { CollectionMenu } from './collections.tsx'

const CollectionForm = lazy(async () => ({ default: (await import('./collection-form.tsx')).CollectionForm }))
const FormTab = lazy(async () => ({ default: (await import('./form-tab.tsx')).FormTab }))
const EntryForm = lazy(async () => ({ default: (await import('./entry-form.tsx')).EntryForm }))

/** As many columns as fit on a screen. */
const SHOWN_FIELDS = 6
const SOURCES = ['form', 'api'] as const
const SORTABLE: readonly CollectionField['type'][] = ['string', 'number', 'boolean', 'date', 'enum', 'email', 'url']

/** One collection with its entries. */
export function Collection() {
  const { t } = useTranslation()
  const { id } = useParams({ from: '/shell/collections/$id' })
  const { data, error, refetch } = useQuery({
    queryKey: ['collections', id],
    queryFn: ({ signal }) => rollcall.collections.get(id, { signal }),
  })
  if (data) return <Entries collection={data} />
  return (
    <Page title={t('collections.title')} above={<BackLink to="/collections">{t('collections.back')}</BackLink>}>
      {error ? <ProblemAlert error={error} onRetry={refetch} /> : <Skeleton height={240} />}
    </Page>
  )
}

function Entries({ collection }: { collection: CollectionRecord }) {
  const { t, i18n } = useTranslation()
  const navigate = useNavigate()
  const [isEditing, setEditing] = useState(false)
  const shown = useShown()
  const { isCreating, open, close } = useCreating('entries.create')
  const { _id, name, slug, description, fields } = collection
  const view = useList<Entry>(['collections', _id, 'entries'], [], (query, options) =>
    rollcall.entries.list(_id, query, options),
  )
  const { data: edited, error } = useQuery({
    queryKey: ['collections', _id, 'entries', shown],
    queryFn: ({ signal }) => rollcall.entries.get(_id, shown!, { signal }),
    enabled: shown !== undefined,
  })
  const show = (id: string | undefined) => view.change({ show: id, page: view.search.page })
  const { filter, sort } = view.request
  const tab = view.search.tab === 'form' ? 'form' : 'entries'
  const columns = useColumns(fields)
  const add = (
    <Action call="entries.create" leftSection={<PlusIcon />} onClick={open}>
      {t('collections.entry.add')}
    </Action>
  )
  const entryName = ({ createdAt }: Entry) =>
    t('collections.entry.name', { when: relativeTime(new Date(createdAt), new Date(), i18n.language) })
  return (
    <Page
      title={name}
      above={<BackLink to="/collections">{t('collections.back')}</BackLink>}
      lead={description || <code>{slug}</code>}
      actions={
        <>
          <ExportButton
            call="entries.export"
            download={() => rollcall.entries.export(_id, { ...(filter && { filter }), ...(sort && { sort }) })}
            name={`${slug}.csv`}
          >
            {t('collections.entry.export')}
          </ExportButton>
          {add}
          <CollectionMenu
            collection={collection}
            variant="default"
            onEdit={() => setEditing(true)}
            onDeleted={() => void navigate({ to: '/collections', ignoreBlocker: true })}
          />
        </>
      }
    >
      {error && <ProblemAlert error={error} />}
      <Tabs value={tab} onChange={next => view.change({ tab: next === 'form' ? next : undefined })} keepMounted={false}>
        <Tabs.List>
          <Tabs.Tab value="entries">{t('collections.entries')}</Tabs.Tab>
          <Tabs.Tab value="form">{t('collections.form.tab')}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="entries" pt="md">
          <Stack gap="md">
            <SourceFilter view={view} />
            <RecordTable
              label={t('collections.entries')}
              view={view}
              columns={columns}
              nameOf={entryName}
              actions={entry => (
                <EntryMenu entry={entry} collection={_id} name={entryName(entry)} onEdit={() => show(entry._id)} />
              )}
              empty={
                <Empty icon={DatabaseIcon} title={t('collections.entry.none')} action={add}>
                  {t('collections.entry.noneText')}
                </Empty>
              }
            />
          </Stack>
        </Tabs.Panel>
        <Tabs.Panel value="form" pt="lg">
          <Suspense>
            <FormTab collection={collection} />
          </Suspense>
        </Tabs.Panel>
      </Tabs>
      <Suspense>
        {isEditing && <CollectionForm collection={collection} onClose={() => setEditing(false)} />}
        {isCreating && <EntryForm collection={collection} onClose={close} />}
        {shown && edited && <EntryForm collection={collection} entry={edited} onClose={() => show(undefined)} />}
      </Suspense>
    </Page>
  )
}

/** Entries of the form, or those of the API and the console. */
function SourceFilter({ view: { search, change } }: { view: ListView<Entry> }) {
  const { t } = useTranslation()
  const label = t('collections.entry.source')
  const options = SOURCES.map(value => ({ value, label: t(`collections.entry.sources.${value}`) }))
  const chosen = options.find(({ value }) => value === search.filter?.source)
  return (
    <FilterBar
      search={null}
      choices={[{ name: 'source', label, options }]}
      chips={chosen ? [{ name: 'source', label, text: chosen.label }] : []}
      onSet={(_name, source) => change({ filter: source ? { source } : undefined })}
      onClear={() => change({ filter: undefined })}
    />
  )
}

function useColumns(fields: readonly CollectionField[]): Column<Entry>[] {
  const { t, i18n } = useTranslation()
  const words = { yes: t('kit.yes'), no: t('kit.no') }
  return [
    ...fields.slice(0, SHOWN_FIELDS).map(
      ({ slug, name, type }, position): Column<Entry> => ({
        name: slug,
        title: name,
        ...(SORTABLE.includes(type) && { sort: `values.${slug}` }),
        ...(type === 'number' && { align: 'right' }),
        isMinor: position > 1,
        render: entry => {
          const shown = shownValue(entry.values[slug], type === 'date' ? 'date' : undefined, i18n.language, words) ?? (
            <Text span c="dimmed" size="sm">
              {t('collections.entry.noValue')}
            </Text>
          )
          return position === 0 ? <RecordLink to="." search={showing(entry._id)} name={shown} /> : shown
        },
      }),
    ),
    {
      name: 'source',
      title: t('collections.entry.source'),
      sort: 'source',
      isMinor: true,
      render: ({ source }) => t(`collections.entry.sources.${source}`),
    },
    {
      name: 'created',
      title: t('kit.field.created'),
      sort: 'createdAt',
      render: ({ createdAt }) => <When at={createdAt} />,
    },
  ]
}

function EntryMenu({
  entry: { _id },
  collection,
  name,
  onEdit,
}: {
  entry: Entry
  collection: string
  name: string
  onEdit: () => void
}) {
  const { t } = useTranslation()
  const confirm = useConfirm()
  return (
    <MoreMenu name={name}>
      <MenuAction call="entries.update" icon={<PencilIcon />} onClick={onEdit}>
        {t('collections.entry.edit')}
      </MenuAction>
      <Menu.Divider />
      <MenuAction
        call="entries.delete"
        danger
        icon={<TrashIcon />}
        onClick={() =>
          confirm({
            title: t('collections.entry.deleteTitle'),
            text: t('collections.entry.deleteText'),
            action: t('collections.entry.delete'),
            run: () => rollcall.entries.delete(collection, _id),
            done: t('collections.entry.deleted'),
          })
        }
      >
        {t('collections.entry.delete')}
      </MenuAction>
    </MoreMenu>
  )
}
