import { Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import type { Template } from '@rollcall/sdk'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { FormModal, fieldProps, useSubmit } from '../kit/form-modal.tsx'
import { useMe } from '../session.ts'

/** Sends the saved template to one address, by the default sender. */
export function SendTest({
  template: { name, subject, html, text },
  onClose,
}: {
  template: Template
  onClose: () => void
}) {
  const { t } = useTranslation()
  const { user } = useMe()
  const form = useForm({ initialValues: { to: user.email } })
  const submit = useSubmit(form, {
    send: ({ to }) =>
      rollcall.messages.send({ to, subject: `[Test] ${subject ?? name}`, html, ...(text && { text }), data: {} }),
    done: t('templates.test.done', { to: form.values.to }),
    onDone: onClose,
  })
  return (
    <FormModal
      title={t('templates.test.title', { name })}
      form={form}
      submit={submit}
      action={t('templates.test.send')}
      onClose={onClose}
    >
      <Text size="md">{t('templates.test.text')}</Text>
      <TextInput
        label={t('templates.test.to')}
        type="email"
        autoComplete="off"
        data-autofocus
        {...fieldProps('messages.send', 'to')}
        {...form.getInputProps('to')}
      />
    </FormModal>
  )
}
