import { ActionIcon, Button, Group, Menu } from '@mantine/core'
import {
  BookmarkIcon,
  ColumnsIcon,
  FilterIcon,
  PeopleIcon,
  PlusIcon,
  SidebarExpandIcon,
  UploadIcon,
} from '@primer/octicons-react'
import type { Attribute, Contact } from '@rollcall/sdk'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { lazy, type ReactNode, Suspense, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { BulkBar } from '../bulk/bulk-bar.tsx'
import { useSelection } from '../bulk/use-selection.ts'
import { Action, useRefusal } from '../kit/action.tsx'
import { Empty } from '../kit/empty.tsx'
import { ExportButton } from '../kit/export-button.tsx'
import { FilterBar, type FilterChoice, type SetFilter } from '../kit/filter-bar.tsx'
import { without } from '../kit/filter-chips.ts'
import { both, type Conditions, isNarrowed, type ListSearch } from '../kit/list-search.ts'
import { Page } from '../kit/page.tsx'
import { RecordLink } from '../kit/record-link.tsx'
import { type Column, RecordTable } from '../kit/record-table.tsx'
import { SearchBox } from '../kit/search-box.tsx'
import { showing, useShown } from '../kit/showing.ts'
import { Tag } from '../kit/status-chip.tsx'
import { useCreating } from '../kit/use-creating.ts'
import { type ListView, useList } from '../kit/use-list.ts'
import { When } from '../kit/when.tsx'
import { BesideSegments } from '../segments/segment-rail.tsx'
import { type ChipName, PERIODS, readChips, SOURCES, STATUSES, withChip } from './conditions.ts'
import { ContactStatus } from './contact-status.tsx'
import { tagsQuery, useAttributes } from './queries.ts'
import { shownValue } from './value.ts'

// Loaded when they are opened: the first look at the contacts needs none of them.
const ContactForm = lazy(async () => ({ default: (await import('./contact-form.tsx')).ContactForm }))
const AdvancedFilter = lazy(async () => ({ default: (await import('./advanced-filter.tsx')).AdvancedFilter }))
const ContactPanel = lazy(async () => ({ default: (await import('./contact-panel.tsx')).ContactPanel }))
const ConditionWords = lazy(async () => ({
  default: (await import('../segments/filter-sentence.tsx')).ConditionWords,
}))
const SegmentForm = lazy(async () => ({ default: (await import('../segments/segment-form.tsx')).SegmentForm }))

const USUAL_COLUMNS = ['status', 'tags', 'createdAt']
const STORED_AS = 'rollcall.contacts.columns'
const SHOWN_TAGS = 3
const OFFERED_TAGS = 50

/** All contacts: search, conditions, columns, bulk work. */
export function Contacts() {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const { isCreating, open, close } = useCreating('contacts.create')
  const view = useList<Contact>(['contacts'], ['email', 'name'], rollcall.contacts.list)
  const selected = useSelection(view)
  const addButton = (
    <Action call="contacts.create" leftSection={<PlusIcon />} onClick={open}>
      {t('contacts.add')}
    </Action>
  )
  return (
    <Page
      title={t('contacts.title')}
      lead={t('contacts.lead')}
      actions={
        <>
          <ExportContacts view={view} />
          {addButton}
        </>
      }
    >
      <BesideSegments>
        <ContactFilters view={view} canSave />
        <ContactTable
          view={view}
          selection={selected}
          empty={
            <Empty
              icon={PeopleIcon}
              title={t('contacts.empty.title')}
              action={
                <>
                  <Button component={Link} to="/imports/new" variant="default" leftSection={<UploadIcon />}>
                    {t('contacts.empty.import')}
                  </Button>
                  {addButton}
                </>
              }
            >
              {t('contacts.empty.text')}
            </Empty>
          }
        />
      </BesideSegments>
      <BulkBar selected={selected} />
      {isCreating && (
        <Suspense>
          <ContactForm
            onClose={close}
            onCreated={({ _id }) => void navigate({ to: '/contacts/$id', params: { id: _id } })}
          />
        </Suspense>
      )}
    </Page>
  )
}

/** A table of contacts, with the columns that the person chose. A contact is shown beside it at a click. */
export function ContactTable({
  view,
  usualColumns,
  actions,
  ...props
}: {
  view: ListView<Contact>
  /** Columns where the address names none. */
  usualColumns?: readonly string[]
} & Pick<Parameters<typeof RecordTable<Contact>>[0], 'selection' | 'empty' | 'actions'>) {
  const { t } = useTranslation()
  const columns = useColumns()
  const columnNames = shownColumns(view.search, usualColumns)
  const peeked = useShown()
  const navigate = useNavigate()
  const peek = ({ _id }: Contact) => void navigate({ to: '.', search: showing(_id), resetScroll: false })
  return (
    <>
      <RecordTable
        label={t('contacts.title')}
        view={view}
        columns={columns.filter(({ name }) => name === 'contact' || columnNames.includes(name))}
        nameOf={({ email }) => email}
        onPeek={peek}
        actions={contact => (
          <Group gap={2} wrap="nowrap" justify="flex-end">
            <ActionIcon
              variant="subtle"
              color="gray"
              visibleFrom="sm"
              aria-label={t('contacts.peek', { email: contact.email })}
              onClick={() => peek(contact)}
            >
              <SidebarExpandIcon />
            </ActionIcon>
            {actions?.(contact)}
          </Group>
        )}
        {...props}
      />
      <Suspense>{peeked && <ContactPanel id={peeked} />}</Suspense>
    </>
  )
}

/** Search and conditions of contacts, and the choice of columns. */
export function ContactFilters({
  view: { search, change, request },
  usualColumns,
  canSave = false,
  more,
}: {
  view: ListView<Contact>
  /** Columns where the address names none. Those of other lists are the person's own. */
  usualColumns?: readonly string[]
  /** Offers to save the conditions as a segment: the list is of all contacts. */
  canSave?: boolean
  more?: ReactNode
}) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const refusal = useRefusal()('segments.create')
  const [dialog, setDialog] = useState<'advanced' | 'segment'>()
  const [added, setAdded] = useState<string>()
  const { data: tags = [] } = useQuery(tagsQuery)
  const { data: attributes = [] } = useAttributes()
  const filter = search.filter ?? {}
  const openAdvanced = (field?: string) => {
    setAdded(field)
    setDialog('advanced')
  }
  const set = (next: Conditions) => change({ filter: Object.keys(next).length > 0 ? next : undefined })
  const choices: FilterChoice[] = [
    {
      name: 'status',
      label: t('contacts.chip.status'),
      options: STATUSES.map(value => ({ value, label: t(`contacts.status.${value}`) })),
    },
    {
      name: 'tag',
      label: t('contacts.chip.tag'),
      options: tags.slice(0, OFFERED_TAGS).map(({ tag }) => ({ value: tag, label: tag })),
    },
    {
      name: 'source',
      label: t('contacts.chip.source'),
      options: SOURCES.map(value => ({ value, label: t(`contacts.source.${value}`) })),
    },
    {
      name: 'created',
      label: t('contacts.chip.created'),
      options: PERIODS.map(value => ({ value, label: t('contacts.period', { count: Number(value) }) })),
    },
    {
      name: 'attribute',
      label: t('contacts.chip.attribute'),
      options: attributes.map(({ slug, name }) => ({ value: `attributes.${slug}`, label: name })),
      onPick: openAdvanced,
    },
  ]
  const { chips, attributes: conditions, rest } = readChips(filter)
  const textOf = (name: ChipName, value: string) => {
    if (name === 'created') return t('contacts.period', { count: Number(value) })
    if (name === 'importJob') return t('contacts.thisImport')
    return choices.find(choice => choice.name === name)?.options.find(option => option.value === value)?.label ?? value
  }
  const shown: SetFilter[] = chips.map(({ name, value }) => ({
    name,
    label: t(`contacts.chip.${name}`),
    text: textOf(name, value),
  }))
  for (const name of conditions)
    shown.push({
      name,
      label: attributes.find(({ slug }) => name === `attributes.${slug}`)?.name ?? name,
      text: (
        <Suspense fallback="…">
          <ConditionWords field={name} condition={filter[name]} />
        </Suspense>
      ),
      onOpen: () => openAdvanced(),
    })
  if (rest.length > 0)
    shown.push({
      name: 'rest',
      label: '',
      text: t('contacts.otherConditions', { count: rest.length }),
      onOpen: () => openAdvanced(),
    })
  const tools = (
    <>
      <Button variant="subtle" color="gray" leftSection={<FilterIcon size={14} />} onClick={() => openAdvanced()}>
        {t('contacts.rules.advanced')}
      </Button>
      {canSave && isNarrowed(search) && !refusal && (
        <Button
          variant="subtle"
          color="gray"
          leftSection={<BookmarkIcon size={14} />}
          onClick={() => setDialog('segment')}
        >
          {t('segments.save')}
        </Button>
      )}
      {more}
    </>
  )
  const close = () => setDialog(undefined)
  const dialogs = (
    <Suspense>
      {dialog === 'advanced' && <AdvancedFilter filter={filter} added={added} onApply={set} onClose={close} />}
      {dialog === 'segment' && (
        <SegmentForm
          start={{
            filter: (request.filter ?? {}) as Conditions,
            ...(request.sort && { sort: request.sort }),
            columns: [...shownColumns(search, usualColumns)],
          }}
          onClose={close}
          onCreated={({ _id }) => void navigate({ to: '/segments/$id', params: { id: _id } })}
        />
      )}
    </Suspense>
  )
  return (
    <FilterBar
      more={tools}
      search={<SearchBox label={t('contacts.search')} value={search.q} onChange={q => change({ q })} />}
      choices={choices.filter(({ options }) => options.length > 0)}
      chips={shown}
      onSet={(name, value) => {
        if (name === 'rest') set(without(filter, rest) ?? {})
        else if (conditions.includes(name)) set(without(filter, [name]) ?? {})
        else set(withChip(filter, name as ChipName, value))
      }}
      onClear={() => change({ filter: undefined, q: undefined })}
    >
      {dialogs}
      <ColumnPicker
        shown={shownColumns(search, usualColumns)}
        onChange={cols => {
          if (!usualColumns) localStorage.setItem(STORED_AS, JSON.stringify(cols))
          change({ cols, page: search.page })
        }}
      />
    </FilterBar>
  )
}

function ColumnPicker({ shown, onChange }: { shown: readonly string[]; onChange: (columns: string[]) => void }) {
  const { t } = useTranslation()
  const columns = useColumns().filter(({ name }) => name !== 'contact')
  return (
    <Menu position="bottom-end" width={220} closeOnItemClick={false}>
      <Menu.Target>
        <Button variant="default" leftSection={<ColumnsIcon size={14} />}>
          {t('kit.table.columns')}
        </Button>
      </Menu.Target>
      <Menu.Dropdown mah={360} style={{ overflowY: 'auto' }}>
        {columns.map(({ name, title }) => (
          <Menu.CheckboxItem
            key={name}
            checked={shown.includes(name)}
            onChange={isOn => onChange(isOn ? [...shown, name] : shown.filter(other => other !== name))}
          >
            {title}
          </Menu.CheckboxItem>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}

function useColumns(): Column<Contact>[] {
  const { t, i18n } = useTranslation()
  const { data: attributes = [] } = useAttributes()
  const words = { yes: t('kit.yes'), no: t('kit.no') }
  return [
    {
      name: 'contact',
      title: t('contacts.columns.contact'),
      sort: 'email',
      render: ({ _id, email, name }) => (
        <RecordLink to="/contacts/$id" params={{ id: _id }} name={email} detail={name} />
      ),
    },
    {
      name: 'status',
      title: t('kit.field.status'),
      render: contact => <ContactStatus contact={contact} />,
    },
    { name: 'tags', title: t('kit.field.tags'), isMinor: true, render: ({ tags }) => <Tags tags={tags} /> },
    {
      name: 'source',
      title: t('contacts.columns.source'),
      sort: 'source',
      isMinor: true,
      render: ({ source }) => t(`contacts.source.${source}`),
    },
    ...attributes.map((attribute): Column<Contact> => attributeColumn(attribute, i18n.language, words)),
    {
      name: 'createdAt',
      title: t('kit.field.created'),
      sort: 'createdAt',
      isMinor: true,
      render: ({ createdAt }) => <When at={createdAt} />,
    },
  ]
}

function attributeColumn(
  { slug, name, type }: Attribute,
  language: string,
  words: { yes: string; no: string },
): Column<Contact> {
  return {
    name: `attributes.${slug}`,
    title: name,
    sort: `attributes.${slug}`,
    isMinor: true,
    ...(type === 'number' && { align: 'right' }),
    render: contact => shownValue(contact.attributes[slug], type, language, words),
  }
}

/** The first tags, and how many there are more. */
export function Tags({ tags }: { tags: readonly string[] }) {
  const more = tags.length - SHOWN_TAGS
  return (
    <span style={{ display: 'inline-flex', gap: 4 }}>
      {tags.slice(0, SHOWN_TAGS).map(tag => (
        <Tag key={tag}>{tag}</Tag>
      ))}
      {more > 0 && <Tag>{`+${more}`}</Tag>}
    </span>
  )
}

/** Downloads what a list shows, of all contacts or of those within a filter. */
export function ExportContacts({ view: { request }, within = {} }: { view: ListView<Contact>; within?: Conditions }) {
  const { t } = useTranslation()
  const { sort } = request
  const filter: object = request.filter ? both(within, request.filter as Conditions) : within
  return (
    <ExportButton
      call="contacts.export"
      download={() => rollcall.contacts.export({ filter, ...(sort && { sort }) })}
      name="contacts.csv"
    >
      {t('contacts.export')}
    </ExportButton>
  )
}

function shownColumns({ cols }: ListSearch, usual?: readonly string[]): readonly string[] {
  return cols ?? usual ?? JSON.parse(localStorage.getItem(STORED_AS) ?? 'null') ?? USUAL_COLUMNS
}
