import { Checkbox, Select, TagsInput, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import type { Attribute } from '@rollcall/sdk'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { FormModal, fieldProps, useSubmit } from '../kit/form-modal.tsx'
import { slugOf } from './slug.ts'

const TYPES = ['string', 'number', 'boolean', 'date', 'enum'] as const

type Type = Attribute['type']

/** Defines an attribute, or changes one. */
export function AttributeForm({
  attribute,
  like,
  onCreated,
  onClose,
}: {
  attribute?: Attribute
  /** What a new one begins with. */
  like?: { name: string; type: Type }
  /** Gets the slug of a new one. */
  onCreated?: (slug: string) => void
  onClose: () => void
}) {
  const { t } = useTranslation()
  const form = useForm({
    initialValues: {
      name: attribute?.name ?? like?.name ?? '',
      slug: attribute?.slug ?? '',
      type: attribute?.type ?? like?.type ?? ('string' as Type),
      options: attribute?.options ?? [],
      required: attribute?.required ?? false,
    },
  })
  const { type } = form.values
  const submit = useSubmit(form, {
    send: async ({ slug, type, options, ...values }): Promise<unknown> => {
      const choice = type === 'enum' ? { options } : {}
      if (attribute) return rollcall.attributes.update(attribute._id, { ...values, ...choice })
      const created = await rollcall.attributes.create({
        ...values,
        ...choice,
        slug: slug || slugOf(values.name),
        type,
      })
      return onCreated?.(created.slug)
    },
    done: attribute ? t('attributes.saved') : t('attributes.created', { name: form.values.name }),
    onDone: onClose,
  })
  return (
    <FormModal
      title={t(attribute ? 'attributes.edit' : 'attributes.new')}
      form={form}
      submit={submit}
      action={t(attribute ? 'kit.save' : 'kit.create')}
      onClose={onClose}
    >
      <TextInput
        label={t('kit.field.name')}
        data-autofocus
        {...fieldProps('attributes.create', 'name')}
        {...form.getInputProps('name')}
      />
      {!attribute && (
        <>
          <TextInput
            label={t('attributes.slug')}
            description={t('attributes.slugHint')}
            placeholder={slugOf(form.values.name)}
            maxLength={40}
            {...form.getInputProps('slug')}
          />
          <Select
            label={t('kit.field.type')}
            allowDeselect={false}
            data={TYPES.map(value => ({ value, label: t(`attributes.types.${value}`) }))}
            {...form.getInputProps('type')}
          />
        </>
      )}
      {type === 'enum' && (
        <TagsInput
          label={t('attributes.options')}
          description={t('attributes.optionsHint')}
          {...form.getInputProps('options')}
        />
      )}
      <Checkbox label={t('attributes.required')} {...form.getInputProps('required', { type: 'checkbox' })} />
    </FormModal>
  )
}
