import { Textarea, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import type { Collection } from '@rollcall/sdk'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { slugOf } from '../attributes/slug.ts'
import { FormModal, fieldProps, useSubmit } from '../kit/form-modal.tsx'
import { FieldEditor } from './field-editor.tsx'
import { fieldOf, newDraft } from './fields.ts'

/** Creates or edits a collection and its fields. */
export function CollectionForm({
  collection,
  onClose,
  onCreated,
}: {
  collection?: Collection
  onClose: () => void
  onCreated?: (collection: Collection) => void
}) {
  const { t } = useTranslation()
  const form = useForm({
    initialValues: {
      name: collection?.name ?? '',
      slug: collection?.slug ?? '',
      description: collection?.description ?? '',
      fields: collection?.fields.map(field => newDraft(field)) ?? [newDraft()],
    },
  })
  const suggested = slugOf(form.values.name).replaceAll('_', '-')
  const submit = useSubmit(form, {
    send: async ({ name, slug, description, fields }): Promise<Collection | undefined> => {
      const body = { name, slug: slug || suggested, description }
      if (!collection) return rollcall.collections.create({ ...body, fields: fields.map(fieldOf) })
      await rollcall.collections.update(collection._id, {
        ...body,
        ...(form.isDirty('fields') && { fields: fields.map(fieldOf) }),
      })
      return undefined
    },
    ...(collection && { done: t('kit.saved') }),
    onDone: created => {
      onClose()
      if (created) onCreated?.(created)
    },
  })
  const call = collection ? 'collections.update' : 'collections.create'
  return (
    <FormModal
      title={t(collection ? 'collections.edit' : 'collections.create')}
      form={form}
      submit={submit}
      action={t(collection ? 'kit.save' : 'kit.create')}
      onClose={onClose}
      size="xl"
    >
      <TextInput
        label={t('kit.field.name')}
        autoComplete="off"
        required
        data-autofocus
        {...fieldProps(call, 'name')}
        {...form.getInputProps('name')}
      />
      <TextInput
        label={t('collections.slug')}
        description={t('collections.slugHint')}
        placeholder={suggested}
        autoComplete="off"
        maxLength={40}
        {...form.getInputProps('slug')}
      />
      <Textarea
        label={t('kit.field.description')}
        autosize
        {...fieldProps(call, 'description')}
        {...form.getInputProps('description')}
      />
      <FieldEditor
        fields={form.values.fields}
        onChange={fields => {
          form.clearErrors()
          form.setFieldValue('fields', fields)
        }}
        errors={form.errors}
        isFixed={(collection?.entryCount ?? 0) > 0}
      />
    </FormModal>
  )
}
