import { Alert, Button, Group, Paper, Progress, Skeleton, Switch, Table, Text } from '@mantine/core'
import { DownloadIcon, PeopleIcon, UndoIcon } from '@primer/octicons-react'
import { type ImportJob, NotFoundError } from '@rollcall/sdk'
import { errorTexts } from '@rollcall/sdk/error-texts'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { isStatus, rollcall } from '../api.ts'
import { Action } from '../kit/action.tsx'
import { BackLink } from '../kit/back-link.tsx'
import { useAct, useConfirm } from '../kit/confirm.tsx'
import { useFollowed } from '../kit/followed.ts'
import { Page } from '../kit/page.tsx'
import { pollWhile } from '../kit/polling.ts'
import { useReports } from '../kit/problem.ts'
import { ProblemAlert } from '../kit/problem-alert.tsx'
import { saveFile } from '../kit/save-file.ts'
import { When } from '../kit/when.tsx'
import { sentence } from '../server/texts.ts'
import { useMe } from '../session.ts'
import { newDraft } from './draft.ts'
import { FileDrop } from './file-drop.tsx'
import { ImportOutcome } from './import-outcome.tsx'
import classes from './imports.module.css'
import { JobState } from './imports.tsx'
import { mappingProblem } from './mapping.ts'
import { isUnfinished, reasonOf, reasonsOf } from './outcome.ts'
import { PreviewTable } from './preview-table.tsx'
import { keepDraft, startDraft } from './use-draft.ts'
import type { OnUploaded } from './use-upload.ts'

const POLL_MS = 1000

/** Returns a job, read again until it is finished, which nobody else then says. */
export function useJob(id: string | undefined) {
  const query = useQuery({
    queryKey: ['imports', id],
    queryFn: async ({ signal }): Promise<ImportJob> => {
      const { docs } = await rollcall.imports.listJobs({ filter: { _id: id! }, limit: 1 }, { signal })
      if (!docs[0]) throw new NotFoundError(errorTexts['import_job.not_found'], { status: 404 })
      return docs[0]
    },
    enabled: id !== undefined,
    refetchInterval: pollWhile(isUnfinished, POLL_MS),
  })
  useFollowed(id, query.data !== undefined && !isUnfinished(query.data))
  return query
}

/** One import: its progress, then what became of every row, and the way back. */
export function Job() {
  const { t } = useTranslation()
  const { id } = useParams({ from: '/shell/imports/$id' })
  const { data: job, error, refetch } = useJob(id)
  const back = <BackLink to="/imports">{t('imports.back')}</BackLink>
  if (!job)
    return (
      <Page title={t('imports.title')} above={back}>
        {isStatus(error, 404) && <Text>{t('imports.gone')}</Text>}
        {error && !isStatus(error, 404) && <ProblemAlert error={error} onRetry={refetch} />}
        {!error && <Skeleton height={200} />}
      </Page>
    )
  return (
    <Page
      title={job.fileName ?? t('imports.noFile')}
      above={back}
      lead={
        <Group gap="sm">
          <JobState job={job} />
          <span>{t(`imports.kind.${job.kind}`)}</span>
          <span>{job.createdBy.name}</span>
          <When at={job.createdAt} />
        </Group>
      }
      actions={<JobActions job={job} />}
    >
      <JobOutcome job={job} />
    </Page>
  )
}

function JobActions({ job }: { job: ImportJob }) {
  const { t } = useTranslation()
  const act = useAct()
  const confirm = useConfirm()
  const navigate = useNavigate()
  if (isUnfinished(job))
    return (
      <Action
        call="imports.cancel"
        variant="default"
        onClick={() => void act({ run: () => rollcall.imports.cancel(job._id), done: t('imports.cancelled') })}
      >
        {t('imports.cancel')}
      </Action>
    )
  if (job.kind !== 'import') return null
  return (
    <>
      {!job.undoneBy && (
        <Action
          call="imports.undo"
          variant="default"
          leftSection={<UndoIcon />}
          onClick={() => {
            let undo = ''
            confirm({
              title: t('imports.undoTitle'),
              text: t('imports.undoText'),
              action: t('imports.undo'),
              run: async () => {
                undo = (await rollcall.imports.undo(job._id)).jobId
              },
              done: t('imports.undoing'),
              onDone: () => void navigate({ to: '/imports/$id', params: { id: undo } }),
            })
          }}
        >
          {t('imports.undo')}
        </Action>
      )}
      <Button
        component={Link}
        to="/contacts"
        search={{ filter: { importJob: job._id } } as never}
        variant="default"
        leftSection={<PeopleIcon />}
      >
        {t('imports.showContacts')}
      </Button>
    </>
  )
}

/** Progress and outcome of a job. */
export function JobOutcome({ job }: { job: ImportJob }) {
  const { t, i18n } = useTranslation()
  const [isOnlyErrors, setOnlyErrors] = useState(false)
  const { result, kind } = job
  const hasBoth = result.preview.length > 0 && result.failed > 0
  const speed = result.rowsPerSecond.toLocaleString(i18n.language)
  return (
    <>
      {job.undoneBy && (
        <Alert color="indigo">
          <Group gap="sm">
            {t('imports.undoneBy')}
            <Link to="/imports/$id" params={{ id: job.undoneBy }}>
              {t('imports.showUndo')}
            </Link>
          </Group>
        </Alert>
      )}
      {job.failedReason && job.failedReason !== 'cancelled' && (
        <Alert color="red" role="alert">
          {sentence(job.failedReason)}
        </Alert>
      )}
      {isUnfinished(job) && (
        <Paper className={classes.card}>
          <Progress value={job.progress} aria-label={t('imports.running')} animated />
          <Text size="sm" c="dimmed" mt="xs" role="status" className="rc-tabular">
            {t('imports.progress', { percent: job.progress, speed })}
            {' · '}
            {t('imports.canLeave')}
          </Text>
        </Paper>
      )}
      <Paper className={classes.card}>
        <ImportOutcome kind={kind} result={result} />
        <div className={classes.remarks}>
          {result.optOutsKept > 0 && <p>{t('imports.optOutsKept', { count: result.optOutsKept })}</p>}
          {result.duplicatesInFile > 0 && <p>{t('imports.duplicates', { count: result.duplicatesInFile })}</p>}
          {result.addedToLists > 0 && <p>{t('imports.addedToLists', { count: result.addedToLists })}</p>}
        </div>
      </Paper>
      {hasBoth && (
        <Switch
          label={t('imports.dryRun.onlyErrors')}
          checked={isOnlyErrors}
          onChange={event => setOnlyErrors(event.currentTarget.checked)}
        />
      )}
      {result.preview.length > 0 && !(hasBoth && isOnlyErrors) && (
        <section>
          <h2 className={classes.heading}>{t('imports.dryRun.changes')}</h2>
          <PreviewTable rows={result.preview} />
        </section>
      )}
      {result.failed > 0 && <FailedRows job={job} />}
    </>
  )
}

function FailedRows({ job }: { job: ImportJob }) {
  const { t, i18n } = useTranslation()
  const { failed } = useReports()
  const { _id, kind, result } = job
  const download = async () => {
    try {
      saveFile(await (await rollcall.imports.downloadErrors(_id)).blob(), 'import-errors.csv')
    } catch (error) {
      failed(error)
    }
  }
  return (
    <section>
      <Group justify="space-between" align="flex-start" mb="sm">
        <div>
          <h2 className={classes.heading}>
            {t(kind === 'dry-run' ? 'imports.dryRun.errors' : 'imports.errors.title')}
          </h2>
          {kind === 'import' && <Text c="dimmed">{t('imports.errors.lead')}</Text>}
          <Text size="sm" c="dimmed">
            {reasonsOf(result.errors)
              .map(({ count, column, reason }) =>
                t('imports.errors.byReason', { count, what: [column, sentence(reason)].filter(Boolean).join(': ') }),
              )
              .join(' · ')}
          </Text>
          {result.failed > result.errors.length && (
            <Text size="sm" c="dimmed">
              {t('imports.errors.listed', {
                count: result.errors.length,
                total: result.failed.toLocaleString(i18n.language),
              })}
            </Text>
          )}
        </div>
        <Button variant="default" leftSection={<DownloadIcon />} onClick={() => void download()}>
          {t('imports.errors.download')}
        </Button>
      </Group>
      {kind === 'import' && <CorrectedFile job={job} />}
      <Table.ScrollContainer minWidth={0} type="native" className={`${classes.table} rc-stack`}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th w={70}>{t('imports.errors.line')}</Table.Th>
              <Table.Th>{t('imports.errors.column')}</Table.Th>
              <Table.Th>{t('imports.errors.value')}</Table.Th>
              <Table.Th>{t('imports.errors.reason')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {result.errors.map(({ row, line, column, value, message }) => (
              <Table.Tr key={`${row} ${column}`}>
                <Table.Td className="rc-tabular" data-label={t('imports.errors.line')}>
                  {line}
                </Table.Td>
                <Table.Td>{column}</Table.Td>
                <Table.Td data-wide>
                  <code>{value}</code>
                </Table.Td>
                <Table.Td data-wide>{sentence(reasonOf({ column, message }))}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </section>
  )
}

/** Takes the corrected error file: the columns are mapped already, so it goes on with the dry run. */
function CorrectedFile({ job }: { job: ImportJob }) {
  const { t } = useTranslation()
  const { user } = useMe()
  const tryOut: OnUploaded = async (upload, fileName) => {
    const draft = newDraft({ user: user._id, fileName, upload }, job)
    keepDraft(draft)
    if (!mappingProblem(draft.mapping)) keepDraft({ ...draft, dryRun: await startDraft(draft, true) })
    return 'dryRun'
  }
  return (
    <div className={classes.corrected}>
      <FileDrop text={t('imports.errors.drop')} onUploaded={tryOut} isSmall />
    </div>
  )
}
