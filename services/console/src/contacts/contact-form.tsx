import { Checkbox, Stack, TagsInput, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import type { Contact } from '@rollcall/sdk'
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { FormModal, fieldProps, useSubmit } from '../kit/form-modal.tsx'
import { ValueInput } from '../kit/value-input.tsx'
import { tagsQuery, useAttributes } from './queries.ts'

/** Adds a contact, with the attributes that the organization has defined. */
export function ContactForm({ onClose, onCreated }: { onClose: () => void; onCreated: (contact: Contact) => void }) {
  const { t } = useTranslation()
  const { data: attributes = [] } = useAttributes()
  const { data: tags = [] } = useQuery(tagsQuery)
  const form = useForm({
    initialValues: {
      email: '',
      name: '',
      tags: [] as string[],
      unsubscribed: false,
      attributes: {} as Record<string, unknown>,
    },
  })
  const submit = useSubmit(form, {
    send: values => rollcall.contacts.create(values as typeof values & { attributes: Record<string, string> }),
    onDone: created => {
      onClose()
      onCreated(created)
    },
  })
  return (
    <FormModal title={t('contacts.add')} form={form} submit={submit} action={t('contacts.add')} onClose={onClose}>
      <TextInput
        label={t('kit.field.email')}
        type="email"
        autoComplete="off"
        data-autofocus
        {...fieldProps('contacts.create', 'email')}
        {...form.getInputProps('email')}
      />
      <TextInput
        label={t('kit.field.name')}
        autoComplete="off"
        {...fieldProps('contacts.create', 'name')}
        {...form.getInputProps('name')}
      />
      <TagsInput
        label={t('kit.field.tags')}
        data={tags.slice(0, 100).map(({ tag }) => tag)}
        {...form.getInputProps('tags')}
      />
      {attributes.length > 0 && (
        <Stack gap="sm" component="fieldset" style={{ border: 0, margin: 0, padding: 0 }}>
          {attributes.map(attribute => (
            <ValueInput
              key={attribute.slug}
              field={attribute}
              required={attribute.required}
              value={form.values.attributes[attribute.slug]}
              onChange={value => form.setFieldValue(`attributes.${attribute.slug}`, value)}
              error={form.errors[`attributes.${attribute.slug}`]}
            />
          ))}
        </Stack>
      )}
      <Checkbox label={t('contacts.unsubscribed')} {...form.getInputProps('unsubscribed', { type: 'checkbox' })} />
    </FormModal>
  )
}
