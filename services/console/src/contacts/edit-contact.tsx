import { Checkbox, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import type { Contact } from '@rollcall/sdk'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { FormModal, fieldProps, useSubmit } from '../kit/form-modal.tsx'
import { ValueInput } from '../kit/value-input.tsx'
import { useAttributes } from './queries.ts'

/** Changes the fields and attributes of a contact; sends only what is different. */
export function EditContact({ contact, onClose }: { contact: Contact; onClose: () => void }) {
  const { t } = useTranslation()
  const { data: attributes = [] } = useAttributes()
  const { _id, email, name, unsubscribed } = contact
  const form = useForm({ initialValues: { email, name, unsubscribed, attributes: { ...contact.attributes } } })
  const submit = useSubmit(form, {
    send: async ({ attributes: after, ...values }) => {
      const { attributes: before, ...initial } = form.getInitialValues()
      const core = changed(initial, values)
      const custom = changed(before, after)
      if (Object.keys(core).length > 0) await rollcall.contacts.update(_id, core)
      if (Object.keys(custom).length > 0)
        await rollcall.contacts.updateAttributes(_id, { attributes: custom as Record<string, string> })
    },
    done: t('contacts.saved'),
    onDone: onClose,
  })
  return (
    <FormModal title={t('contacts.edit')} form={form} submit={submit} action={t('kit.save')} onClose={onClose}>
      <TextInput
        label={t('kit.field.email')}
        type="email"
        {...fieldProps('contacts.create', 'email')}
        {...form.getInputProps('email')}
      />
      <TextInput
        label={t('kit.field.name')}
        {...fieldProps('contacts.update', 'name')}
        {...form.getInputProps('name')}
      />
      {attributes.map(attribute => (
        <ValueInput
          key={attribute.slug}
          field={attribute}
          value={form.values.attributes[attribute.slug]}
          onChange={value => form.setFieldValue(`attributes.${attribute.slug}`, value)}
          error={form.errors[`attributes.${attribute.slug}`]}
        />
      ))}
      <Checkbox label={t('contacts.unsubscribed')} {...form.getInputProps('unsubscribed', { type: 'checkbox' })} />
    </FormModal>
  )
}

/** Returns the values that differ; null where there is none any more. */
function changed(before: Record<string, unknown>, after: Record<string, unknown>): Record<string, unknown> {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  return Object.fromEntries(names.filter(name => before[name] !== after[name]).map(name => [name, after[name] ?? null]))
}
