import { Alert, Select, Skeleton } from '@mantine/core'
import { useForm } from '@mantine/form'
import type { Webhook } from '@rollcall/sdk'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { CodeBlock } from '../kit/code-block.tsx'
import { FormModal, useSubmit } from '../kit/form-modal.tsx'
import { eventTypesQuery } from './queries.ts'

const USUAL_TYPE = 'contact.created'

/** Sends an example of an event, and shows what the endpoint answered. */
export function SendTest({ webhook: { _id, name, eventTypes }, onClose }: { webhook: Webhook; onClose: () => void }) {
  const { t } = useTranslation()
  const [reply, setReply] = useState('')
  const { data: types } = useQuery(eventTypesQuery)
  const form = useForm({ initialValues: { type: eventTypes[0] ?? USUAL_TYPE } })
  const submit = useSubmit(form, {
    send: values => {
      setReply('')
      return rollcall.webhooks.test(_id, values)
    },
    onDone: ({ message }) => setReply(message),
  })
  const example = types?.find(({ type }) => type === form.values.type)?.example
  return (
    <FormModal
      title={t('webhooks.test.title', { name })}
      form={form}
      submit={submit}
      action={t('webhooks.test.send')}
      onClose={onClose}
      size="lg"
    >
      <Select
        label={t('webhooks.test.type')}
        data={types?.map(({ type }) => type) ?? [form.values.type]}
        searchable
        allowDeselect={false}
        {...form.getInputProps('type')}
      />
      {reply && (
        <Alert color="teal" role="status">
          {reply}
        </Alert>
      )}
      {example ? (
        <CodeBlock text={JSON.stringify(example, null, 2)} what={t('webhooks.test.body')} />
      ) : (
        <Skeleton height={200} />
      )}
    </FormModal>
  )
}
