import { Button, Group, Modal, SegmentedControl, Select, Stack, Text, Textarea } from '@mantine/core'
import { type UseFormReturnType, useForm } from '@mantine/form'
import type { AudienceList, Segment } from '@rollcall/sdk'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { fieldProps, SubmitForm, useSubmit } from '../kit/form-modal.tsx'
import { OutcomeBar } from '../kit/outcome-bar.tsx'
import { useUnsaved } from '../kit/use-unsaved.tsx'
import { useMissing } from '../session.ts'
import { emailsOf } from './emails.ts'

const BulkSheet = lazy(async () => ({ default: (await import('../bulk/bulk-sheet.tsx')).BulkSheet }))

const ALL = 1000
const WAYS = ['emails', 'segment'] as const

/** Adds contacts to a list, or removes them: by their addresses, or all of a segment. */
export function MoveContacts({
  list,
  isAdding,
  onClose,
}: {
  list: AudienceList
  isAdding: boolean
  onClose: () => void
}) {
  const { t } = useTranslation()
  const missing = useMissing()
  const [way, setWay] = useState<(typeof WAYS)[number]>('emails')
  const [segment, setSegment] = useState<{ record: Segment; count: number }>()
  const form = useForm({ initialValues: { emails: '' } })
  const leave = useUnsaved(form.isDirty)
  const close = () => void leave(onClose)
  if (segment)
    return (
      <Suspense>
        <BulkSheet
          action={isAdding ? 'addToLists' : 'removeFromLists'}
          preset={{ lists: [list._id] }}
          selection={{ filter: segment.record.filter }}
          count={segment.count}
          onClose={onClose}
          onStarted={() => {}}
        />
      </Suspense>
    )
  return (
    <Modal opened onClose={close} title={t(isAdding ? 'lists.addContacts' : 'lists.removeContacts')}>
      <Stack gap="md">
        {!missing('segments.list') && !missing('bulk.changeContacts') && (
          <SegmentedControl
            aria-label={t('lists.way')}
            data={WAYS.map(value => ({ value, label: t(`lists.ways.${value}`) }))}
            value={way}
            onChange={value => setWay(value as typeof way)}
          />
        )}
        {way === 'emails' ? (
          <ByEmails form={form} list={list} isAdding={isAdding} onClose={close} />
        ) : (
          <BySegment onClose={close} onChosen={(record, count) => setSegment({ record, count })} />
        )}
      </Stack>
    </Modal>
  )
}

type Counts = { name: 'added' | 'alreadyMember' | 'removed' | 'notFound'; count: number }[]

function ByEmails({
  form,
  list,
  isAdding,
  onClose,
}: {
  form: UseFormReturnType<{ emails: string }>
  list: AudienceList
  isAdding: boolean
  onClose: () => void
}) {
  const { t } = useTranslation()
  const [counts, setCounts] = useState<Counts>()
  const submit = useSubmit(form, {
    send: async (values): Promise<Counts> => {
      const emails = emailsOf(values.emails)
      if (isAdding) {
        const { added = 0, alreadyMember = 0, notFound = 0 } = await rollcall.lists.addMembers(list._id, { emails })
        return [
          { name: 'added', count: added },
          { name: 'alreadyMember', count: alreadyMember },
          { name: 'notFound', count: notFound },
        ]
      }
      const { removed = 0 } = await rollcall.lists.removeMembers(list._id, { emails })
      return [
        { name: 'removed', count: removed },
        { name: 'notFound', count: emails.length - removed },
      ]
    },
    onDone: setCounts,
  })
  return (
    <SubmitForm form={form} submit={submit}>
      <Textarea
        label={t('lists.emails')}
        description={t(isAdding ? 'lists.emailsHint' : 'lists.removeHint')}
        autosize
        minRows={6}
        maxRows={14}
        data-autofocus
        required
        {...fieldProps(isAdding ? 'lists.addMembers' : 'lists.removeMembers', 'emails')}
        {...form.getInputProps('emails')}
      />
      <div role="status">
        {counts && (
          <OutcomeBar
            parts={counts.map(({ name, count }) => ({
              label: t(`lists.counts.${!isAdding && name === 'notFound' ? 'notMember' : name}`),
              count,
              tone: name === 'notFound' ? 'warn' : name === 'alreadyMember' ? 'neutral' : 'good',
            }))}
            total={counts.reduce((sum, { count }) => sum + count, 0)}
          />
        )}
      </div>
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onClose}>
          {t(counts ? 'kit.close' : 'kit.cancel')}
        </Button>
        <Button type="submit" loading={submit.isPending}>
          {t(isAdding ? 'lists.add' : 'lists.remove')}
        </Button>
      </Group>
    </SubmitForm>
  )
}

function BySegment({
  onClose,
  onChosen,
}: {
  onClose: () => void
  onChosen: (segment: Segment, count: number) => void
}) {
  const { t, i18n } = useTranslation()
  const [id, setId] = useState<string | null>(null)
  const { data: segments = [] } = useQuery({
    queryKey: ['segments', 'all'],
    queryFn: async ({ signal }) => (await rollcall.segments.list({ limit: ALL, sort: { name: 1 } }, { signal })).docs,
  })
  const { data: count } = useQuery({
    queryKey: ['segments', id, 'count'],
    queryFn: async ({ signal }) => (await rollcall.segments.count(id!, { signal })).count,
    enabled: id !== null,
  })
  const chosen = segments.find(({ _id }) => _id === id)
  return (
    <>
      <Select
        label={t('lists.segment')}
        searchable
        data={segments.map(({ _id, name }) => ({ value: _id, label: name }))}
        value={id}
        onChange={setId}
      />
      <Text size="sm" c="dimmed" role="status">
        {count !== undefined && t('bulk.for', { count, number: count.toLocaleString(i18n.language) })}
      </Text>
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onClose}>
          {t('kit.cancel')}
        </Button>
        <Button disabled={!chosen || count === undefined} onClick={() => onChosen(chosen!, count!)}>
          {t('bulk.review')}
        </Button>
      </Group>
    </>
  )
}
