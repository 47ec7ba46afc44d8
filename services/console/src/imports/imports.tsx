import { Button } from '@mantine/core'
import { PlusIcon, UploadIcon } from '@primer/octicons-react'
import type { ImportJob } from '@rollcall/sdk'
import { Link, useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { Action } from '../kit/action.tsx'
import { Empty } from '../kit/empty.tsx'
import { Page } from '../kit/page.tsx'
import { RecordLink } from '../kit/record-link.tsx'
import { type Column, RecordTable } from '../kit/record-table.tsx'
import { StatusChip, Tag } from '../kit/status-chip.tsx'
import { useCreateKey } from '../kit/use-creating.ts'
import { useList } from '../kit/use-list.ts'
import { When } from '../kit/when.tsx'
import { ImportOutcome } from './import-outcome.tsx'
import { stateOf } from './outcome.ts'

/** Every import, dry run and undo. */
export function Imports() {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const open = () => void navigate({ to: '/imports/new' })
  useCreateKey('imports.upload', open)
  const view = useList<ImportJob>(['imports'], ['fileName'], rollcall.imports.listJobs)
  const columns: Column<ImportJob>[] = [
    {
      name: 'file',
      title: t('imports.columns.file'),
      sort: 'fileName',
      render: ({ _id, fileName }) => (
        <RecordLink to="/imports/$id" params={{ id: _id }} name={fileName ?? t('imports.noFile')} />
      ),
    },
    {
      name: 'kind',
      title: t('kit.field.kind'),
      isMinor: true,
      render: ({ kind }) => <Tag>{t(`imports.kind.${kind}`)}</Tag>,
    },
    { name: 'state', title: t('kit.field.status'), render: job => <JobState job={job} /> },
    {
      name: 'outcome',
      title: t('imports.columns.outcome'),
      isMinor: true,
      render: ({ kind, result }) => <ImportOutcome kind={kind} result={result} isCompact />,
    },
    { name: 'by', title: t('imports.columns.by'), isMinor: true, render: ({ createdBy }) => createdBy.name },
    {
      name: 'createdAt',
      title: t('imports.columns.started'),
      sort: 'createdAt',
      isMinor: true,
      render: ({ createdAt }) => <When at={createdAt} />,
    },
  ]
  return (
    <Page
      title={t('imports.title')}
      lead={t('imports.lead')}
      actions={
        <Action call="imports.upload" leftSection={<PlusIcon />} onClick={open}>
          {t('imports.new')}
        </Action>
      }
    >
      <RecordTable
        label={t('imports.title')}
        view={view}
        columns={columns}
        nameOf={({ fileName, _id }) => fileName ?? _id}
        empty={
          <Empty
            icon={UploadIcon}
            title={t('imports.empty.title')}
            action={
              <Button component={Link} to="/imports/new">
                {t('imports.new')}
              </Button>
            }
          >
            {t('imports.empty.text')}
          </Empty>
        }
      />
    </Page>
  )
}

/** The state of a job, as a chip. */
export function JobState({ job }: { job: Pick<ImportJob, 'state' | 'failedReason' | 'undoneBy'> }) {
  const { t } = useTranslation()
  const { name, tone } = stateOf(job)
  return <StatusChip tone={tone}>{t(`imports.state.${name}`)}</StatusChip>
}
