import { Button, Group, Stack, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { BackLink } from '../kit/back-link.tsx'
import { Page } from '../kit/page.tsx'
import { useReports } from '../kit/problem.ts'
import { ProblemAlert } from '../kit/problem-alert.tsx'
import { saveFile } from '../kit/save-file.ts'
import { Steps } from '../kit/steps.tsx'
import { useMe } from '../session.ts'
import { changed, furthestStep, type ImportDraft, type ImportStep, newDraft, STEPS, stepOf } from './draft.ts'
import { FileDrop } from './file-drop.tsx'
import { Foot } from './foot.tsx'
import classes from './imports.module.css'
import { JobOutcome, useJob } from './job.tsx'
import { MapStep } from './map-step.tsx'
import { OptionsStep } from './options-step.tsx'
import { isUnfinished } from './outcome.ts'
import { keepDraft, startDraft, useImportDraft } from './use-draft.ts'
import type { OnUploaded } from './use-upload.ts'

const DELIMITERS: Record<string, 'comma' | 'semicolon' | 'tab' | 'pipe'> = {
  ',': 'comma',
  ';': 'semicolon',
  '\t': 'tab',
  '|': 'pipe',
}

/** Imports a file in steps, which the address names: upload, mapping, options, dry run. */
export function NewImport() {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const client = useQueryClient()
  const { user } = useMe()
  const draft = useImportDraft()
  const { step: wanted = 'upload' } = useSearch({ from: '/shell/imports/new' })
  const step = stepOf(wanted, draft)
  const goTo = (next: ImportStep) => {
    start.reset()
    void navigate({ to: '/imports/new', search: next === 'upload' ? {} : { step: next } })
  }
  const start = useMutation({
    mutationFn: (dryRun: boolean) => startDraft(draft!, dryRun),
    onSuccess: async (jobId, dryRun) => {
      if (dryRun) {
        keepDraft({ ...draft!, dryRun: jobId })
        return goTo('dryRun')
      }
      keepDraft(undefined)
      await client.invalidateQueries()
      await navigate({ to: '/imports/$id', params: { id: jobId }, replace: true })
    },
  })
  return (
    <Page title={t('imports.newTitle')} above={<BackLink to="/imports">{t('imports.back')}</BackLink>}>
      <Steps
        steps={STEPS}
        step={step}
        furthest={furthestStep(draft)}
        labelOf={each => t(`imports.steps.${each}`)}
        onGo={goTo}
      />
      {draft && step !== 'upload' && <FileFacts draft={draft} />}
      {start.error && <ProblemAlert error={start.error} />}
      {step === 'upload' && (
        <UploadStep
          draft={draft}
          onUploaded={async (upload, fileName) => {
            start.reset()
            keepDraft(newDraft({ user: user._id, fileName, upload }))
            return 'map'
          }}
          onNext={() => goTo('map')}
        />
      )}
      {step === 'map' && draft && (
        <MapStep
          upload={draft.upload}
          mapping={draft.mapping}
          onChange={mapping => keepDraft(changed(draft, { mapping }))}
          onBack={() => goTo('upload')}
          onNext={() => goTo('options')}
        />
      )}
      {step === 'options' && draft && (
        <OptionsStep options={draft.options} onChange={options => keepDraft(changed(draft, { options }))}>
          <Foot onBack={() => goTo('map')}>
            <Button loading={start.isPending} onClick={() => start.mutate(true)}>
              {t('imports.dryRun.run')}
            </Button>
          </Foot>
        </OptionsStep>
      )}
      {step === 'dryRun' && draft?.dryRun && (
        <DryRun
          jobId={draft.dryRun}
          onBack={() => goTo('map')}
          onAgain={() => start.mutate(true)}
          onStart={() => start.mutate(false)}
          isBusy={start.isPending}
        />
      )}
    </Page>
  )
}

function UploadStep({
  draft,
  onUploaded,
  onNext,
}: {
  draft: ImportDraft | undefined
  onUploaded: OnUploaded
  onNext: () => void
}) {
  const { t } = useTranslation()
  const { failed } = useReports()
  const sample = async () => {
    try {
      saveFile(await (await rollcall.contacts.getImportSample()).blob(), 'audience-sample.csv')
    } catch (error) {
      failed(error)
    }
  }
  return (
    <Stack gap="md">
      <FileDrop text={t('imports.upload.drop')} onUploaded={onUploaded} />
      <Group justify="space-between">
        <Text size="sm" c="dimmed">
          {t('imports.upload.limit')}
        </Text>
        <Button variant="subtle" onClick={() => void sample()}>
          {t('imports.upload.sample')}
        </Button>
      </Group>
      {draft && (
        <Group justify="space-between" className={classes.kept}>
          <FileFacts draft={draft} />
          <Button variant="default" onClick={onNext}>
            {t('imports.upload.keep')}
          </Button>
        </Group>
      )}
    </Stack>
  )
}

function FileFacts({
  draft: {
    fileName,
    upload: { rowCount, headers, delimiter, encoding, duplicateEmails, expiresAt },
  },
}: {
  draft: ImportDraft
}) {
  const { t, i18n } = useTranslation()
  const known = DELIMITERS[delimiter]
  return (
    <div className={classes.facts}>
      <strong>{fileName}</strong>
      <span>{t('imports.file.rows', { count: rowCount })}</span>
      <span>{t('imports.file.columns', { count: headers.length })}</span>
      <span>{encoding}</span>
      <span>
        {t('imports.file.delimiter', { delimiter: known ? t(`imports.file.delimiters.${known}`) : delimiter })}
      </span>
      {duplicateEmails > 0 && <span>{t('imports.file.duplicates', { count: duplicateEmails })}</span>}
      <span>
        {t('imports.file.expires', {
          time: new Date(expiresAt).toLocaleTimeString(i18n.language, { timeStyle: 'short' }),
        })}
      </span>
    </div>
  )
}

function DryRun({
  jobId,
  onBack,
  onAgain,
  onStart,
  isBusy,
}: {
  jobId: string
  onBack: () => void
  onAgain: () => void
  onStart: () => void
  isBusy: boolean
}) {
  const { t } = useTranslation()
  const { data: job, error } = useJob(jobId)
  return (
    <Stack gap="md">
      <div>
        <h2 className={classes.heading}>{t('imports.dryRun.title')}</h2>
        <Text c="dimmed" size="sm">
          {t('imports.dryRun.nothingWritten')}
        </Text>
      </div>
      {error && <ProblemAlert error={error} />}
      {job && <JobOutcome job={job} />}
      <Foot onBack={onBack}>
        <Group gap="xs">
          <Button variant="default" onClick={onAgain} loading={isBusy}>
            {t('imports.dryRun.again')}
          </Button>
          <Button onClick={onStart} disabled={!job || isUnfinished(job)} loading={isBusy}>
            {t('imports.start')}
          </Button>
        </Group>
      </Foot>
    </Stack>
  )
}
