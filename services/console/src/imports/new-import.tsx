import {
  Alert,
  Button,
  FileButton,
  Group,
  MultiSelect,
  Progress,
  Radio,
  Select,
  Stack,
  Stepper,
  Table,
  TagsInput,
  Text,
} from '@mantine/core'
import { Dropzone } from '@mantine/dropzone'
import { UploadIcon } from '@primer/octicons-react'
import type { ImportUpload, StartImportBody } from '@rollcall/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { attributesQuery, openListsQuery, tagsQuery } from '../contacts/queries.ts'
import { useRefusal } from '../kit/action.tsx'
import { BackLink } from '../kit/back-link.tsx'
import { Page } from '../kit/page.tsx'
import { useProblemText, useReports } from '../kit/problem.ts'
import { ProblemAlert } from '../kit/problem-alert.tsx'
import { saveFile } from '../kit/save-file.ts'
import classes from './imports.module.css'
import { JobOutcome, useJob } from './job.tsx'
import { FIELDS, type Mapping, mappingProblem, samplesOf, withTarget } from './mapping.ts'
import { isUnfinished } from './outcome.ts'

const MAX_BYTES = 200 * 2 ** 20
const DELIMITERS: Record<string, 'comma' | 'semicolon' | 'tab' | 'pipe'> = {
  ',': 'comma',
  ';': 'semicolon',
  '\t': 'tab',
  '|': 'pipe',
}

type Options = Required<Pick<StartImportBody, 'duplicateStrategy' | 'emptyValues' | 'tags' | 'listIds'>>

/** Imports a file in steps: upload, mapping, options, dry run, start. */
export function NewImport() {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const client = useQueryClient()
  const [step, setStep] = useState(0)
  const [upload, setUpload] = useState<ImportUpload>()
  const [mapping, setMapping] = useState<Mapping>({})
  const [options, setOptions] = useState<Options>({
    duplicateStrategy: 'update',
    emptyValues: 'ignore',
    tags: [],
    listIds: [],
  })
  const start = useMutation({
    mutationFn: (dryRun: boolean) =>
      rollcall.imports.start({ importId: upload!.importId, mapping, ...options, dryRun }),
    onSuccess: async ({ jobId }, dryRun) => {
      if (dryRun) return setStep(3)
      await client.invalidateQueries()
      await navigate({ to: '/imports/$id', params: { id: jobId } })
    },
  })
  const dryRunId = start.variables ? start.data?.jobId : undefined
  return (
    <Page title={t('imports.newTitle')} above={<BackLink to="/imports">{t('imports.back')}</BackLink>}>
      <Stepper active={step} onStepClick={setStep} size="sm" iconSize={28} allowNextStepsSelect={false}>
        {(['upload', 'map', 'options', 'dryRun'] as const).map(name => (
          <Stepper.Step key={name} label={t(`imports.steps.${name}`)} />
        ))}
      </Stepper>
      {upload && step > 0 && <FileFacts upload={upload} />}
      {start.error && <ProblemAlert error={start.error} />}
      {step === 0 && (
        <Upload
          onUploaded={uploaded => {
            setUpload(uploaded)
            setMapping(uploaded.suggestedMapping as Mapping)
            setStep(1)
          }}
        />
      )}
      {step === 1 && upload && (
        <MapStep
          upload={upload}
          mapping={mapping}
          onChange={setMapping}
          onBack={() => setStep(0)}
          onNext={() => setStep(2)}
        />
      )}
      {step === 2 && (
        <OptionsStep options={options} onChange={setOptions}>
          <Foot onBack={() => setStep(1)}>
            <Button loading={start.isPending} onClick={() => start.mutate(true)}>
              {t('imports.dryRun.run')}
            </Button>
          </Foot>
        </OptionsStep>
      )}
      {step === 3 && (
        <DryRun
          jobId={dryRunId}
          onBack={() => setStep(1)}
          onAgain={() => start.mutate(true)}
          onStart={() => start.mutate(false)}
          isBusy={start.isPending}
        />
      )}
    </Page>
  )
}

function Upload({ onUploaded }: { onUploaded: (upload: ImportUpload) => void }) {
  const { t } = useTranslation()
  const { failed } = useReports()
  const refusal = useRefusal()('imports.upload')
  const problemText = useProblemText()
  const [share, setShare] = useState(0)
  const [isTooLarge, setTooLarge] = useState(false)
  const send = useMutation({
    mutationFn: (file: File) => rollcall.imports.upload(file, { onProgress: setShare }),
    onSuccess: onUploaded,
  })
  const take = (files: readonly (File | null)[]) => {
    const file = files[0]
    setTooLarge(false)
    if (file) send.mutate(file)
  }
  const sample = async () => {
    try {
      saveFile(await (await rollcall.contacts.getImportSample()).blob(), 'audience-sample.csv')
    } catch (error) {
      failed(error)
    }
  }
  const problem = isTooLarge ? t('imports.upload.tooLarge') : send.error && problemText(send.error)
  return (
    <Stack gap="md">
      {problem && (
        <Alert color="red" role="alert">
          {problem}
        </Alert>
      )}
      {refusal && <Alert color="yellow">{refusal}</Alert>}
      <Dropzone
        onDrop={take}
        onReject={() => setTooLarge(true)}
        maxSize={MAX_BYTES}
        multiple={false}
        activateOnClick={false}
        activateOnKeyboard={false}
        loading={send.isPending}
        disabled={Boolean(refusal)}
        className={classes.drop}
        tabIndex={-1}
        inputProps={{ 'aria-hidden': true, tabIndex: -1 }}
      >
        <Stack align="center" gap="xs" style={{ pointerEvents: 'auto' }}>
          <UploadIcon size={28} />
          <Text fw={600} size="lg">
            {t('imports.upload.drop')}
          </Text>
          <Text c="dimmed">{t('imports.upload.or')}</Text>
          <FileButton
            onChange={file => take([file])}
            accept=".csv,.tsv,.txt,text/csv"
            inputProps={{ 'aria-label': t('imports.upload.title') }}
          >
            {props => (
              <Button {...props} disabled={Boolean(refusal)}>
                {t('imports.upload.choose')}
              </Button>
            )}
          </FileButton>
        </Stack>
      </Dropzone>
      {send.isPending && (
        <div>
          <Progress value={share * 100} aria-label={t('imports.steps.upload')} />
          <Text size="sm" c="dimmed" role="status">
            {t('imports.upload.uploading', { percent: Math.round(share * 100) })}
          </Text>
        </div>
      )}
      <Group justify="space-between">
        <Text size="sm" c="dimmed">
          {t('imports.upload.limit')}
        </Text>
        <Button variant="subtle" onClick={() => void sample()}>
          {t('imports.upload.sample')}
        </Button>
      </Group>
    </Stack>
  )
}

function FileFacts({
  upload: { rowCount, headers, delimiter, encoding, duplicateEmails, expiresAt },
}: {
  upload: ImportUpload
}) {
  const { t, i18n } = useTranslation()
  const known = DELIMITERS[delimiter]
  return (
    <div className={classes.facts}>
      <strong>{t('imports.file.rows', { count: rowCount })}</strong>
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

function MapStep({
  upload: { headers, previewRows },
  mapping,
  onChange,
  onBack,
  onNext,
}: {
  upload: ImportUpload
  mapping: Mapping
  onChange: (mapping: Mapping) => void
  onBack: () => void
  onNext: () => void
}) {
  const { t } = useTranslation()
  const { data: attributes = [] } = useQuery(attributesQuery)
  const targets = [
    { group: t('imports.map.fields'), items: FIELDS.map(value => ({ value, label: t(`imports.map.${value}`) })) },
    { group: t('imports.map.attributes'), items: attributes.map(({ slug, name }) => ({ value: slug, label: name })) },
  ]
  const labelOf = (target: string) =>
    targets.flatMap(({ items }) => items).find(({ value }) => value === target)?.label ?? target
  const problem = mappingProblem(mapping)
  const unmapped = headers.filter(header => !(header in mapping)).length
  return (
    <Stack gap="md">
      <Table.ScrollContainer minWidth={520} type="native" className={classes.table}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('imports.map.column')}</Table.Th>
              <Table.Th>{t('imports.map.samples')}</Table.Th>
              <Table.Th w={240}>{t('imports.map.target')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {headers.map(header => (
              <Table.Tr key={header}>
                <Table.Td fw={550}>{header}</Table.Td>
                <Table.Td>
                  <div className={classes.samples}>
                    {samplesOf(previewRows, header).map((value, index) => (
                      <span key={index}>{value}</span>
                    ))}
                  </div>
                </Table.Td>
                <Table.Td>
                  <Select
                    aria-label={t('imports.map.targetOf', { column: header })}
                    placeholder={t('imports.map.skip')}
                    data={targets}
                    clearable
                    searchable
                    value={mapping[header] ?? null}
                    onChange={target => onChange(withTarget(mapping, header, target))}
                  />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      {problem ? (
        <Alert color="orange" role="alert">
          {problem.kind === 'required'
            ? t('imports.map.required')
            : t('imports.map.twice', { target: labelOf(problem.target) })}
        </Alert>
      ) : (
        unmapped > 0 && (
          <Text c="dimmed" size="sm">
            {t('imports.map.unmapped', { count: unmapped })}
          </Text>
        )
      )}
      <Foot onBack={onBack}>
        <Button disabled={problem !== undefined} onClick={onNext}>
          {t('kit.next')}
        </Button>
      </Foot>
    </Stack>
  )
}

function OptionsStep({
  options,
  onChange,
  children,
}: {
  options: Options
  onChange: (options: Options) => void
  children: ReactNode
}) {
  const { t } = useTranslation()
  const { data: lists = [] } = useQuery(openListsQuery)
  const { data: tags = [] } = useQuery(tagsQuery)
  return (
    <Stack gap="lg" maw={560}>
      <Radio.Group
        label={t('imports.options.known')}
        value={options.duplicateStrategy}
        onChange={value => onChange({ ...options, duplicateStrategy: value as Options['duplicateStrategy'] })}
      >
        <Stack gap="xs" mt={6}>
          <Radio value="update" label={t('imports.options.update')} description={t('imports.options.updateText')} />
          <Radio value="skip" label={t('imports.options.skip')} description={t('imports.options.skipText')} />
        </Stack>
      </Radio.Group>
      <Radio.Group
        label={t('imports.options.blank')}
        value={options.emptyValues}
        onChange={value => onChange({ ...options, emptyValues: value as Options['emptyValues'] })}
      >
        <Stack gap="xs" mt={6}>
          <Radio value="ignore" label={t('imports.options.ignore')} description={t('imports.options.ignoreText')} />
          <Radio value="clear" label={t('imports.options.clear')} description={t('imports.options.clearText')} />
        </Stack>
      </Radio.Group>
      <TagsInput
        label={t('imports.options.tags')}
        data={tags.slice(0, 100).map(({ tag }) => tag)}
        value={options.tags}
        onChange={chosen => onChange({ ...options, tags: chosen })}
      />
      <MultiSelect
        label={t('imports.options.lists')}
        data={lists.map(({ _id, name }) => ({ value: _id, label: name }))}
        value={options.listIds}
        onChange={listIds => onChange({ ...options, listIds })}
        searchable
      />
      {children}
    </Stack>
  )
}

function DryRun({
  jobId,
  onBack,
  onAgain,
  onStart,
  isBusy,
}: {
  jobId: string | undefined
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

function Foot({ onBack, children }: { onBack: () => void; children: ReactNode }) {
  const { t } = useTranslation()
  return (
    <div className={classes.foot}>
      <Button variant="default" onClick={onBack}>
        {t('kit.back')}
      </Button>
      {children}
    </div>
  )
}
