import { Alert, Button, Group, Skeleton, Text } from '@mantine/core'
import { LogIcon } from '@primer/octicons-react'
import type { BulkJob as Job } from '@rollcall/sdk'
import { Link, useParams } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { isStatus, rollcall } from '../api.ts'
import { Action } from '../kit/action.tsx'
import { BackLink } from '../kit/back-link.tsx'
import { useAct } from '../kit/confirm.tsx'
import { Copyable } from '../kit/copyable.tsx'
import { Facts } from '../kit/facts.tsx'
import { Page } from '../kit/page.tsx'
import { ProblemAlert } from '../kit/problem-alert.tsx'
import { When } from '../kit/when.tsx'
import { FilterSentence } from '../segments/filter-sentence.tsx'
import { useMissing } from '../session.ts'
import { callsOf } from './action.ts'
import { BulkOutcome, BulkState } from './bulk-outcome.tsx'
import { isCancellable, undoableUntil } from './job-state.ts'
import { useBulkJob } from './queries.ts'
import { UndoBulk } from './undo-bulk.tsx'
import { useBulkWords } from './use-bulk-words.ts'

/** One bulk job: what it does to which contacts, who started it, how far it is, and the way back. */
export function BulkJob() {
  const { t } = useTranslation()
  const { id } = useParams({ from: '/shell/bulk/$id' })
  const { data: job, error, refetch } = useBulkJob(id)
  const whatOf = useBulkWords(job ? [job] : [])
  const back = <BackLink to="/bulk">{t('bulk.title')}</BackLink>
  if (!job)
    return (
      <Page title={t('bulk.title')} above={back}>
        {isStatus(error, 404) && <Text>{t('bulk.gone')}</Text>}
        {error && !isStatus(error, 404) && <ProblemAlert error={error} onRetry={refetch} />}
        {!error && <Skeleton height={200} />}
      </Page>
    )
  return (
    <Page
      title={whatOf(job)}
      above={back}
      lead={
        <Group gap="sm">
          <BulkState job={job} />
          <span>{job.createdBy.name}</span>
          <When at={job.createdAt} />
        </Group>
      }
      actions={<JobActions job={job} />}
    >
      <Relation job={job} />
      <BulkOutcome job={job} />
      <JobFacts job={job} />
    </Page>
  )
}

function JobActions({ job }: { job: Job }) {
  const { t } = useTranslation()
  const act = useAct()
  const missing = useMissing()
  return (
    <>
      {!missing('events.list') && (
        <Button
          variant="default"
          leftSection={<LogIcon />}
          component={Link}
          to="/events"
          search={{ filter: { 'subject.id': job._id } } as never}
        >
          {t('bulk.events')}
        </Button>
      )}
      {isCancellable(job) && (
        <Action
          call={callsOf(job)}
          variant="default"
          onClick={() => void act({ run: () => rollcall.bulk.cancelJob(job._id), done: t('bulk.cancelled') })}
        >
          {t('bulk.cancel')}
        </Action>
      )}
      <UndoBulk job={job} />
    </>
  )
}

/** The job that undid this one, or that this one undoes. */
function Relation({ job: { kind, undoes, undoneBy } }: { job: Job }) {
  const { t } = useTranslation()
  const other = kind === 'undo' ? undoes : undoneBy
  if (!other) return null
  return (
    <Alert color="indigo">
      <Group gap="sm">
        {t(kind === 'undo' ? 'bulk.undoes' : 'bulk.undoneBy')}
        <Link to="/bulk/$id" params={{ id: other }} className="rc-link">
          {t(kind === 'undo' ? 'bulk.showUndone' : 'bulk.showUndo')}
        </Link>
      </Group>
    </Alert>
  )
}

function JobFacts({ job }: { job: Job }) {
  const { t, i18n } = useTranslation()
  const { _id, kind, filter, change, createdBy, createdAt, finishedAt } = job
  const { blockedReason } = (change ?? {}) as { blockedReason?: string }
  const until = undoableUntil(job, Date.now())
  const time = (at: string | Date) =>
    new Date(at).toLocaleString(i18n.language, { dateStyle: 'medium', timeStyle: 'short' })
  return (
    <Facts
      facts={{
        [t('bulk.facts.which')]:
          kind === 'undo' ? undefined : filter === null ? (
            t('bulk.facts.chosen')
          ) : (
            <FilterSentence filter={JSON.parse(filter)} />
          ),
        [t('bulk.facts.reason')]: blockedReason,
        [t('bulk.facts.by')]: createdBy.name,
        [t('bulk.facts.at')]: time(createdAt),
        [t('bulk.facts.finished')]: finishedAt ? time(finishedAt) : undefined,
        [t('bulk.facts.undoable')]: until && time(until),
        [t('bulk.facts.id')]: <Copyable value={_id} what={t('bulk.facts.id')} mono />,
      }}
    />
  )
}
