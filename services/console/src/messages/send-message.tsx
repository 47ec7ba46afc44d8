import { SegmentedControl, Select, Textarea, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { FormModal, fieldProps, useSubmit } from '../kit/form-modal.tsx'
import { fromLocal } from '../kit/local-time.ts'
import { useMissing } from '../session.ts'

const SENDERS = 100

/** Sends one mail to one address. */
export function SendMessage({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation()
  const missing = useMissing()
  const { data: senders } = useQuery({
    queryKey: ['senders', 'choice'],
    queryFn: async ({ signal }) => (await rollcall.senders.list({ limit: SENDERS }, { signal })).docs,
    enabled: !missing('senders.list'),
  })
  const form = useForm({
    initialValues: {
      to: '',
      from: null as string | null,
      subject: '',
      format: 'text' as 'text' | 'html',
      text: '',
      html: '',
      replyTo: '',
      sendAt: '',
    },
  })
  const submit = useSubmit(form, {
    send: ({ to, from, subject, format, replyTo, sendAt, ...content }) => {
      const at = fromLocal(sendAt)
      return rollcall.messages.send({
        to,
        subject,
        [format]: content[format],
        ...(from && { from }),
        ...(replyTo && { replyTo }),
        ...(at && { sendAt: at }),
      })
    },
    done: t('messages.accepted', { to: form.values.to }),
    onDone: onClose,
  })
  return (
    <FormModal
      title={t('messages.send')}
      form={form}
      submit={submit}
      action={t('messages.send')}
      onClose={onClose}
      size="lg"
    >
      <TextInput
        label={t('messages.to')}
        type="email"
        autoComplete="off"
        data-autofocus
        {...fieldProps('messages.send', 'to')}
        {...form.getInputProps('to')}
      />
      <Select
        label={t('messages.from')}
        placeholder={t('messages.defaultSender')}
        clearable
        data={(senders ?? []).map(({ _id, name, email }) => ({ value: _id, label: `${name} <${email}>` }))}
        {...form.getInputProps('from')}
      />
      <TextInput
        label={t('messages.subject')}
        autoComplete="off"
        {...fieldProps('messages.send', 'subject')}
        {...form.getInputProps('subject')}
      />
      <SegmentedControl
        size="xs"
        aria-label={t('messages.content')}
        data={[
          { value: 'text', label: t('messages.text') },
          { value: 'html', label: t('messages.html') },
        ]}
        {...form.getInputProps('format')}
      />
      <Textarea
        key={form.values.format}
        label={t(form.values.format === 'text' ? 'messages.text' : 'messages.html')}
        required
        autosize
        minRows={6}
        maxRows={16}
        {...fieldProps('messages.send', form.values.format)}
        {...form.getInputProps(form.values.format)}
      />
      <TextInput label={t('messages.replyTo')} type="email" autoComplete="off" {...form.getInputProps('replyTo')} />
      <TextInput
        type="datetime-local"
        label={t('messages.sendAt')}
        description={t('messages.sendAtHint')}
        {...form.getInputProps('sendAt')}
      />
    </FormModal>
  )
}
