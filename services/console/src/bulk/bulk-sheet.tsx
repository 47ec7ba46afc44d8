import { Button, Drawer, MultiSelect, Select, Stack, TagsInput, Text, Textarea } from '@mantine/core'
import type { BulkJob } from '@rollcall/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type FormEvent, useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { allListsQuery, openListsQuery, tagsQuery, useAttributes } from '../contacts/queries.ts'
import { useFollowed } from '../kit/followed.ts'
import { fieldProps } from '../kit/form-modal.tsx'
import type { Conditions } from '../kit/list-search.ts'
import { ProblemAlert } from '../kit/problem-alert.tsx'
import { ValueInput } from '../kit/value-input.tsx'
import { FilterSentence } from '../segments/filter-sentence.tsx'
import { type ActionName, actionOf, NO_VALUES, type Values } from './action.ts'
import classes from './bulk.module.css'
import { BulkOutcome } from './bulk-outcome.tsx'
import { isUnfinished, undoableUntil } from './job-state.ts'
import { startBulk, useBulkJob } from './queries.ts'
import type { Selection } from './selection.ts'
import { UndoBulk } from './undo-bulk.tsx'

const OFFERED_TAGS = 100

/** Changes contacts in bulk, in steps: what to change, what that would do, and what it did. */
export function BulkSheet({
  action,
  preset,
  selection,
  count,
  onClose,
  onStarted,
}: {
  action: ActionName
  /** What is known already, so that nothing has to be entered. */
  preset?: Partial<Values>
  selection: Selection
  /** How many contacts are selected. */
  count: number
  onClose: () => void
  onStarted: () => void
}) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const [kept] = useState({ selection, count }) // the selection is cleared once the work has started
  const [values, setValues] = useState({ ...NO_VALUES, ...preset })
  const { input: usualInput, changeOf } = actionOf(action)
  const input = preset ? undefined : usualInput
  const start = (dryRun: boolean) => startBulk(kept.selection, changeOf?.(values), dryRun)
  const review = useMutation({ mutationFn: () => start(true) })
  const run = useMutation({
    mutationFn: () => start(false),
    onSuccess: () => {
      onStarted()
      void client.invalidateQueries({ queryKey: ['bulk'] })
    },
  })
  const { mutate: reviewNow } = review
  useEffect(() => {
    if (!input) reviewNow()
  }, [input, reviewNow])
  const { data: job, error } = useBulkJob(run.data?.jobId ?? review.data?.jobId)
  const isReviewed = review.data !== undefined
  useFollowed(run.data?.jobId, job !== undefined && !isUnfinished(job))
  useRefreshAfter(run.data ? job : undefined)
  const close = () => {
    // Nobody waits for what an unfinished review would say.
    if (job?.dryRun && isUnfinished(job)) void rollcall.bulk.cancelJob(job._id).catch(() => {})
    onClose()
  }
  return (
    <Drawer
      opened
      onClose={close}
      title={t(`bulk.actions.${action}`)}
      styles={{ content: { display: 'flex', flexDirection: 'column' }, header: { flexShrink: 0 }, body: { flex: 1 } }}
    >
      <div className={classes.sheet}>
        <Which {...kept} />
        {!run.data && <Text size="md">{t(`bulk.means.${action}`)}</Text>}
        {[review.error, run.error, error].map(
          problem => problem && <ProblemAlert key={problem.message} error={problem} />,
        )}
        {isReviewed ? (
          <>
            {job && <BulkOutcome job={job} />}
            <div className={classes.foot}>
              {run.data ? (
                <Finished job={job} onClose={onClose} />
              ) : (
                <>
                  <Button variant="default" onClick={input ? review.reset : close}>
                    {t(input ? 'kit.back' : 'kit.cancel')}
                  </Button>
                  <RunButton action={action} job={job} isBusy={run.isPending} onRun={() => run.mutate()} />
                </>
              )}
            </div>
          </>
        ) : (
          input && (
            <Choose
              action={action}
              values={values}
              onChange={setValues}
              isBusy={review.isPending}
              onReview={() => reviewNow()}
              onClose={close}
            />
          )
        )}
      </div>
    </Drawer>
  )
}

/** Reads everything anew when the job is finished. It may be so quick that the tasks in the header never show it running. */
function useRefreshAfter(job: BulkJob | undefined): void {
  const client = useQueryClient()
  const isFinished = job !== undefined && !isUnfinished(job)
  useEffect(() => {
    if (isFinished) void client.invalidateQueries()
  }, [client, isFinished])
}

/** Which contacts the work is for. */
function Which({ selection, count }: { selection: Selection; count: number }) {
  const { t, i18n } = useTranslation()
  return (
    <div className={classes.which}>
      <strong className="rc-tabular">{t('bulk.for', { count, number: count.toLocaleString(i18n.language) })}</strong>
      {'filter' in selection && (
        <>
          {' · '}
          <FilterSentence filter={selection.filter as Conditions} />
        </>
      )}
    </div>
  )
}

function Choose({
  action,
  values,
  onChange,
  isBusy,
  onReview,
  onClose,
}: {
  action: ActionName
  values: Values
  onChange: (values: Values) => void
  isBusy: boolean
  onReview: () => void
  onClose: () => void
}) {
  const { t } = useTranslation()
  const isReady = actionOf(action).isReady(values)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (isReady) onReview()
  }
  return (
    <form onSubmit={submit} style={{ display: 'contents' }}>
      <Fields action={action} values={values} onChange={change => onChange({ ...values, ...change })} />
      <div className={classes.foot}>
        <Button variant="default" onClick={onClose}>
          {t('kit.cancel')}
        </Button>
        <Button type="submit" disabled={!isReady} loading={isBusy}>
          {t('bulk.review')}
        </Button>
      </div>
    </form>
  )
}

type FieldsProps = { values: Values; onChange: (change: Partial<Values>) => void }

function Fields({ action, ...props }: FieldsProps & { action: ActionName }) {
  const { t } = useTranslation()
  const { values, onChange } = props
  switch (actionOf(action).input) {
    case 'tags':
      return <TagsField {...props} />
    case 'lists':
      return <ListsField {...props} takesArchived={action === 'removeFromLists'} />
    case 'attribute':
      return <AttributeField {...props} />
    default:
      return (
        <Textarea
          label={t('bulk.reason')}
          description={t('bulk.reasonHint')}
          autosize
          minRows={2}
          data-autofocus
          {...fieldProps('contacts.block', 'reason')}
          value={values.reason}
          onChange={event => onChange({ reason: event.currentTarget.value })}
        />
      )
  }
}

function TagsField({ values, onChange }: FieldsProps) {
  const { t } = useTranslation()
  const { data: tags = [] } = useQuery(tagsQuery)
  return (
    <TagsInput
      label={t('bulk.tags')}
      description={t('bulk.tagsHint')}
      data-autofocus
      acceptValueOnBlur
      data={tags.slice(0, OFFERED_TAGS).map(({ tag }) => tag)}
      value={values.tags}
      onChange={next => onChange({ tags: next })}
    />
  )
}

function ListsField({ values, onChange, takesArchived }: FieldsProps & { takesArchived: boolean }) {
  const { t } = useTranslation()
  const { data: lists = [] } = useQuery(takesArchived ? allListsQuery : openListsQuery)
  return (
    <MultiSelect
      label={t('bulk.lists')}
      data-autofocus
      searchable
      data={lists.map(({ _id, name }) => ({ value: _id, label: name }))}
      value={values.lists}
      onChange={next => onChange({ lists: next })}
    />
  )
}

function AttributeField({ values, onChange }: FieldsProps) {
  const { t } = useTranslation()
  const { data: attributes = [], isSuccess } = useAttributes()
  const chosen = attributes.find(({ slug }) => slug === values.attribute)
  if (isSuccess && attributes.length === 0) return <Text c="dimmed">{t('bulk.noAttributes')}</Text>
  return (
    <Stack gap="md">
      <Select
        label={t('bulk.attribute')}
        data-autofocus
        searchable
        data={attributes.map(({ slug, name }) => ({ value: slug, label: name }))}
        value={values.attribute}
        onChange={attribute => onChange({ attribute, value: undefined })}
      />
      {chosen && (
        <ValueInput
          field={{ ...chosen, name: t('bulk.value') }}
          value={values.value}
          onChange={value => onChange({ value })}
        />
      )}
    </Stack>
  )
}

function RunButton({
  action,
  job,
  isBusy,
  onRun,
}: {
  action: ActionName
  job: BulkJob | undefined
  isBusy: boolean
  onRun: () => void
}) {
  const { t, i18n } = useTranslation()
  const count = job?.result.changed ?? 0
  const isOpen = job?.state === 'completed' && count > 0
  const number = count.toLocaleString(i18n.language)
  const isEmpty = job?.state === 'completed' && count === 0
  return (
    <Button
      disabled={!isOpen}
      loading={isBusy || !job || isUnfinished(job)}
      onClick={onRun}
      {...(actionOf(action).isDangerous && { color: 'red' })}
    >
      {isEmpty ? t('bulk.nothingToDo') : t(`bulk.run.${action}`, { count, number })}
    </Button>
  )
}

function Finished({ job, onClose }: { job: BulkJob | undefined; onClose: () => void }) {
  const { t, i18n } = useTranslation()
  const until = job && undoableUntil(job, Date.now())
  return (
    <>
      {until && (
        <Text size="sm" c="dimmed" mr="auto" style={{ alignSelf: 'center' }}>
          {t('bulk.undoUntil', { date: until.toLocaleDateString(i18n.language, { dateStyle: 'medium' }) })}
        </Text>
      )}
      {job && <UndoBulk job={job} onStarted={onClose} />}
      {job && (
        <Button variant="default" component={Link} to="/bulk/$id" params={{ id: job._id } as never}>
          {t('bulk.showJob')}
        </Button>
      )}
      <Button onClick={onClose}>{t('kit.done')}</Button>
    </>
  )
}
