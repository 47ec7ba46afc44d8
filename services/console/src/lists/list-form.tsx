import { TagsInput, Textarea, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import type { AudienceList } from '@rollcall/sdk'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { FormModal, fieldProps, useSubmit } from '../kit/form-modal.tsx'

/** Makes a list, or changes one. */
export function ListForm({
  list,
  onClose,
  onCreated,
}: {
  list?: AudienceList
  onClose: () => void
  onCreated?: (list: AudienceList) => void
}) {
  const { t } = useTranslation()
  const form = useForm({
    initialValues: { name: list?.name ?? '', description: list?.description ?? '', tags: list?.tags ?? [] },
  })
  const submit = useSubmit(form, {
    send: async values => {
      if (!list) return rollcall.lists.create(values)
      await rollcall.lists.update(list._id, values)
      return undefined
    },
    done: list ? t('lists.saved') : t('lists.created', { name: form.values.name }),
    onDone: created => {
      onClose()
      if (created) onCreated?.(created)
    },
  })
  const title = t(list ? 'lists.edit' : 'lists.new')
  return (
    <FormModal
      title={title}
      form={form}
      submit={submit}
      action={list ? t('kit.save') : t('kit.create')}
      onClose={onClose}
    >
      <TextInput
        label={t('kit.field.name')}
        data-autofocus
        {...fieldProps('lists.create', 'name')}
        {...form.getInputProps('name')}
      />
      <Textarea
        label={t('kit.field.description')}
        autosize
        minRows={2}
        {...fieldProps('lists.create', 'description')}
        {...form.getInputProps('description')}
      />
      <TagsInput label={t('kit.field.tags')} {...form.getInputProps('tags')} />
    </FormModal>
  )
}
