import { Button } from '@mantine/core'
import { StackIcon } from '@primer/octicons-react'
import type { BulkJob } from '@rollcall/sdk'
import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { Empty } from '../kit/empty.tsx'
import { FilterBar, type FilterChoice } from '../kit/filter-bar.tsx'
import { both, type Conditions } from '../kit/list-search.ts'
import { Page } from '../kit/page.tsx'
import { RecordLink } from '../kit/record-link.tsx'
import { type Column, RecordTable } from '../kit/record-table.tsx'
import { SearchBox } from '../kit/search-box.tsx'
import { useList } from '../kit/use-list.ts'
import { When } from '../kit/when.tsx'
import { BulkState, JobBar } from './bulk-outcome.tsx'
import en from './en.ts'
import { UndoBulk } from './undo-bulk.tsx'
import { useBulkWords } from './use-bulk-words.ts'

type Kind = keyof typeof en.kinds
const KINDS = Object.keys(en.kinds) as Kind[]

/** Every bulk change and undo; dry runs where they are asked for. */
export function BulkJobs() {
  const { t, i18n } = useTranslation()
  const view = useList<BulkJob>(['bulk'], ['createdBy.name'], (query, options) => {
    const filter = (query.filter ?? {}) as Conditions
    const isForDryRuns = 'dryRun' in filter
    return rollcall.bulk.listJobs(
      { ...query, filter: isForDryRuns ? filter : both(filter, { dryRun: false }) },
      options,
    )
  })
  const { search, change, query } = view
  const whatOf = useBulkWords(query.data?.docs ?? [])
  const columns: Column<BulkJob>[] = [
    {
      name: 'what',
      title: t('bulk.columns.what'),
      render: job => <RecordLink to="/bulk/$id" params={{ id: job._id }} name={whatOf(job)} />,
    },
    { name: 'state', title: t('kit.field.status'), sort: 'state', render: job => <BulkState job={job} /> },
    {
      name: 'outcome',
      title: t('bulk.columns.outcome'),
      isMinor: true,
      render: job => <JobBar job={job} isCompact />,
    },
    {
      name: 'changed',
      title: t('bulk.outcomes.changed'),
      isMinor: true,
      align: 'right',
      render: ({ result }) => result.changed.toLocaleString(i18n.language),
    },
    { name: 'by', title: t('bulk.columns.by'), isMinor: true, render: ({ createdBy }) => createdBy.name },
    {
      name: 'createdAt',
      title: t('bulk.columns.started'),
      sort: 'createdAt',
      isMinor: true,
      render: ({ createdAt }) => <When at={createdAt} />,
    },
  ]
  const choice: FilterChoice = {
    name: 'kind',
    label: t('bulk.chips.kind'),
    options: KINDS.map(value => ({ value, label: t(`bulk.kinds.${value}`) })),
  }
  const shown: Kind | undefined = search.filter?.dryRun ? 'dryRun' : KINDS.find(kind => kind === search.filter?.kind)
  return (
    <Page title={t('bulk.title')} lead={t('bulk.lead')}>
      <FilterBar
        search={<SearchBox label={t('bulk.search')} value={search.q} onChange={q => change({ q })} />}
        choices={[choice]}
        chips={shown ? [{ name: 'kind', label: choice.label, text: t(`bulk.kinds.${shown}`) }] : []}
        onSet={(_name, value) => {
          const filter = value === 'dryRun' ? { dryRun: true } : value && { kind: value }
          change({ filter: filter || undefined })
        }}
        onClear={() => change({ filter: undefined, q: undefined })}
      />
      <RecordTable
        label={t('bulk.title')}
        view={view}
        columns={columns}
        nameOf={whatOf}
        actions={job => <UndoBulk job={job} />}
        empty={
          <Empty
            icon={StackIcon}
            title={t('bulk.empty.title')}
            action={
              <Button component={Link} to="/contacts">
                {t('bulk.empty.action')}
              </Button>
            }
          >
            {t('bulk.empty.text')}
          </Empty>
        }
      />
    </Page>
  )
}
