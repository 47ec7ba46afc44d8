import { Alert, Progress, Text } from '@mantine/core'
import type { BulkJob } from '@rollcall/sdk'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { FieldChange } from '../contacts/field-change.tsx'
import { OutcomeBar } from '../kit/outcome-bar.tsx'
import { Section } from '../kit/section.tsx'
import { StatusChip } from '../kit/status-chip.tsx'
import { sentence } from '../server/texts.ts'
import classes from './bulk.module.css'
import { isUnfinished, partsOf, stateOf } from './job-state.ts'

const SHOWN_ERRORS = 100

/** The progress and the outcome of a job: the counts, the first changes of a dry run, and why contacts fail. */
export function BulkOutcome({ job }: { job: BulkJob }) {
  const { t, i18n } = useTranslation()
  const { result, dryRun, progress, failedReason } = job
  const isRunning = isUnfinished(job)
  const { emailOf } = useEmails([...result.sample, ...result.errors].map(({ contact }) => contact))
  return (
    <>
      {failedReason && failedReason !== 'cancelled' && (
        <Alert color="red" role="alert">
          {sentence(failedReason)}
        </Alert>
      )}
      {isRunning && (
        <div>
          <Progress value={progress} animated aria-label={t('bulk.state.active')} />
          <Text size="sm" c="dimmed" mt="xs" role="status" className="rc-tabular">
            {`${progress} % · ${t(dryRun ? 'bulk.reviewing' : 'bulk.canClose')}`}
          </Text>
        </div>
      )}
      {!isRunning && <JobBar job={job} />}
      {result.notFound > 0 && (
        <Text c="dimmed" size="sm">
          {t('bulk.notFound', { count: result.notFound, number: result.notFound.toLocaleString(i18n.language) })}
        </Text>
      )}
      {result.errors.length > 0 && (
        <Section
          title={t(dryRun ? 'bulk.errors.title' : 'bulk.errors.done')}
          lead={result.failed > SHOWN_ERRORS && t('bulk.moreErrors', { count: SHOWN_ERRORS })}
        >
          <ul className={classes.rows}>
            {result.errors.map(({ contact, message }) => (
              <Row key={contact} contact={contact} email={emailOf(contact)}>
                {sentence(message)}
              </Row>
            ))}
          </ul>
        </Section>
      )}
      {result.sample.length > 0 && !isRunning && (
        <Section title={t('bulk.sample')}>
          <ul className={classes.rows}>
            {result.sample.map(({ contact, changes }) => (
              <Row key={contact} contact={contact} email={emailOf(contact)}>
                {changes.map(change =>
                  change.field === 'deleted' ? t('bulk.deletedNow') : <FieldChange key={change.field} {...change} />,
                )}
              </Row>
            ))}
          </ul>
        </Section>
      )}
    </>
  )
}

function Row({ contact, email, children }: { contact: string; email: string; children: ReactNode }) {
  return (
    <li className={classes.row}>
      <Link to="/contacts/$id" params={{ id: contact }} className="rc-link">
        {email}
      </Link>
      <div>{children}</div>
    </li>
  )
}

/** What became of the contacts of a job, as a bar. */
export function JobBar({ job, isCompact = false }: { job: BulkJob; isCompact?: boolean }) {
  const { t } = useTranslation()
  const parts = partsOf(job).map(({ name, ...part }) => ({ ...part, label: t(`bulk.outcomes.${name}`) }))
  return <OutcomeBar parts={parts} total={job.result.matched} isCompact={isCompact} />
}

/** The state of a job, as a chip. */
export function BulkState({ job }: { job: BulkJob }) {
  const { t } = useTranslation()
  const { name, tone } = stateOf(job)
  return <StatusChip tone={tone}>{t(`bulk.state.${name}`)}</StatusChip>
}

/** Returns a function that names contacts by their addresses; those that are gone keep their id. */
function useEmails(ids: readonly string[]): { emailOf: (id: string) => string } {
  const { data = new Map<string, string>() } = useQuery({
    queryKey: ['contacts', 'emails', ids],
    queryFn: async ({ signal }) => {
      const request = { filter: { _id: { $in: [...ids] } }, projection: { email: 1 as const }, limit: ids.length }
      const { docs } = await rollcall.contacts.list(request, { signal })
      return new Map(docs.map(({ _id, email }) => [_id, email]))
    },
    enabled: ids.length > 0,
  })
  return { emailOf: id => data.get(id) ?? id }
}
