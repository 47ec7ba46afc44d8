import { LogIcon } from '@primer/octicons-react'
import type { LoggedEvent } from '@rollcall/sdk'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense } from 'react'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { Empty } from '../kit/empty.tsx'
import { ExportButton } from '../kit/export-button.tsx'
import { FilterBar, type FilterChoice } from '../kit/filter-bar.tsx'
import { Page } from '../kit/page.tsx'
import { RecordLink } from '../kit/record-link.tsx'
import { type Column, RecordTable } from '../kit/record-table.tsx'
import { SearchBox } from '../kit/search-box.tsx'
import { showing, useShown } from '../kit/showing.ts'
import { useFilterChips } from '../kit/use-filter-chips.ts'
import { useList } from '../kit/use-list.ts'
import { When } from '../kit/when.tsx'
import { useMissing } from '../session.ts'
import { eventTypesQuery } from '../webhooks/queries.ts'
import { ACTOR_KINDS, EVENT_CHIPS, PERIODS } from './chips.ts'
import en from './en.ts'
import { SubjectLink } from './subject-link.tsx'
import { useEventWords } from './use-event-words.ts'

const EventPanel = lazy(async () => ({ default: (await import('./event-panel.tsx')).EventPanel }))

/** The event log. */
export function Events() {
  const { t } = useTranslation()
  const { typeName, kindName } = useEventWords()
  const shown = useShown()
  const view = useList<LoggedEvent>(['events'], ['actor.name', 'subject.name', 'ip'], rollcall.events.list)
  const { search, change, request, query } = view
  const choices = useChoices()
  /** The name of a record or person that a chip knows by id only. */
  const nameOf = (id: string) => {
    for (const { actor, subject } of query.data?.docs ?? []) {
      if (actor.id === id) return actor.name
      if (subject.id === id) return subject.name ?? kindName(subject.kind)
    }
    return id
  }
  const bar = useFilterChips(EVENT_CHIPS, view, {
    choices,
    labelOf: name => t(`events.chips.${name}`),
    textOf: (name, value) => (name === 'ip' ? value : nameOf(value)),
  })
  const columns: Column<LoggedEvent>[] = [
    {
      name: 'what',
      title: t('events.what'),
      sort: 'type',
      render: ({ _id, type }) => (
        <RecordLink
          to="."
          search={showing(_id)}
          name={typeName(type)}
          detail={typeName(type) !== type && <code>{type}</code>}
        />
      ),
    },
    { name: 'subject', title: t('events.subject'), render: ({ subject }) => <SubjectLink subject={subject} /> },
    { name: 'who', title: t('events.who'), sort: 'actor.name', render: ({ actor }) => actor.name },
    { name: 'from', title: t('events.from'), isMinor: true, render: ({ ip }) => ip && <code>{ip}</code> },
    { name: 'when', title: t('events.when'), sort: 'at', render: ({ at }) => <When at={at} /> },
  ]
  return (
    <Page
      title={t('events.title')}
      lead={t('events.lead')}
      actions={
        <ExportButton
          call="events.export"
          download={() =>
            rollcall.events.export({
              ...(request.filter && { filter: request.filter }),
              ...(request.sort && { sort: request.sort }),
            })
          }
          name="events.csv"
        >
          {t('events.export')}
        </ExportButton>
      }
    >
      <FilterBar
        search={<SearchBox label={t('events.search')} value={search.q} onChange={q => change({ q })} />}
        choices={choices}
        {...bar}
      />
      <RecordTable
        label={t('events.title')}
        view={view}
        columns={columns}
        nameOf={({ type }) => type}
        empty={
          <Empty icon={LogIcon} title={t('events.empty.title')}>
            {t('events.empty.text')}
          </Empty>
        }
      />
      <Suspense>{shown && <EventPanel id={shown} onFilter={bar.onSet} />}</Suspense>
    </Page>
  )
}

/** What can be filtered by. Types come from the API for those who may read them. */
function useChoices(): FilterChoice[] {
  const { t } = useTranslation()
  const { typeName, kindName } = useEventWords()
  const missing = useMissing()
  const { data: types = [] } = useQuery({ ...eventTypesQuery, enabled: !missing('webhooks.listEventTypes') })
  return [
    {
      name: 'type',
      label: t('events.chips.type'),
      options: types.map(({ type }) => ({ value: type, label: typeName(type) })),
    },
    {
      name: 'kind',
      label: t('events.chips.kind'),
      options: Object.keys(en.kinds).map(value => ({ value, label: kindName(value) })),
    },
    {
      name: 'who',
      label: t('events.chips.who'),
      options: ACTOR_KINDS.map(value => ({ value, label: t(`events.actorKinds.${value}`) })),
    },
    {
      name: 'when',
      label: t('events.chips.when'),
      isTime: true,
      options: PERIODS.map(value => ({ value, label: t('events.period', { count: Number(value) }) })),
    },
  ].filter(({ options }) => options.length > 0)
}
