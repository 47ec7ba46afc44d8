import { Alert, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import type { Sender } from '@rollcall/sdk'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { FormModal, fieldProps, useSubmit } from '../kit/form-modal.tsx'
import { useMe } from '../session.ts'

/** Sends a test mail, and shows what the mail server replied. */
export function SendTest({ sender: { _id, email }, onClose }: { sender: Sender; onClose: () => void }) {
  const { t } = useTranslation()
  const { user } = useMe()
  const [reply, setReply] = useState('')
  const form = useForm({ initialValues: { to: user.email } })
  const submit = useSubmit(form, {
    send: values => rollcall.senders.test(_id, values),
    onDone: ({ message }) => setReply(message),
  })
  return (
    <FormModal
      title={t('senders.testTitle', { email })}
      form={form}
      submit={submit}
      action={t('senders.test')}
      onClose={onClose}
    >
      <TextInput
        label={t('senders.testTo')}
        type="email"
        data-autofocus
        {...fieldProps('senders.test', 'to')}
        {...form.getInputProps('to')}
      />
      {reply && (
        <Alert color="teal" role="status">
          {reply}
        </Alert>
      )}
    </FormModal>
  )
}
