import { Textarea, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import type { Segment } from '@rollcall/sdk'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { draftOf, FilterEditor } from '../contacts/filter-editor.tsx'
import { FormModal, fieldProps, useSubmit } from '../kit/form-modal.tsx'
import type { Conditions } from '../kit/list-search.ts'

/** What a new segment starts with: what a list of contacts shows. */
export type Start = { filter: Conditions; sort?: object; columns?: string[] }

/** Makes a segment, or changes one. */
export function SegmentForm({
  segment,
  start = { filter: {} },
  onClose,
  onCreated,
}: {
  segment?: Segment
  start?: Start
  onClose: () => void
  onCreated?: (segment: Segment) => void
}) {
  const { t } = useTranslation()
  const form = useForm({
    initialValues: {
      name: segment?.name ?? '',
      description: segment?.description ?? '',
      draft: draftOf(segment?.filter ?? start.filter),
    },
  })
  const submit = useSubmit(form, {
    send: async ({ draft, ...values }) => {
      const filter: object = draft.filter
      if (!segment) return rollcall.segments.create({ ...values, ...start, filter })
      await rollcall.segments.update(segment._id, { ...values, filter })
      return undefined
    },
    done: segment ? t('segments.saved') : t('segments.created', { name: form.values.name }),
    onDone: created => {
      onClose()
      if (created) onCreated?.(created)
    },
  })
  return (
    <FormModal
      title={t(segment ? 'segments.edit' : 'segments.new')}
      form={form}
      submit={submit}
      action={segment ? t('kit.save') : t('kit.create')}
      isIncomplete={!form.values.draft.isComplete}
      onClose={onClose}
      size="50rem"
    >
      <TextInput
        label={t('kit.field.name')}
        data-autofocus
        {...fieldProps('segments.create', 'name')}
        {...form.getInputProps('name')}
      />
      <Textarea
        label={t('kit.field.description')}
        autosize
        minRows={1}
        {...fieldProps('segments.create', 'description')}
        {...form.getInputProps('description')}
      />
      <FilterEditor draft={form.values.draft} onChange={draft => form.setFieldValue('draft', draft)} />
    </FormModal>
  )
}
