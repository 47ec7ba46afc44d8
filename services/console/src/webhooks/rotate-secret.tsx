import { Select, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import type { CreatedWebhook, Webhook } from '@rollcall/sdk'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { FormModal, useSubmit } from '../kit/form-modal.tsx'

const OVERLAPS = [0, 1, 24, 72, 168] as const
const DAY = 24

/** Makes a new signing secret; the present one signs as well for a while. */
export function RotateSecret({
  webhook: { _id, name },
  onClose,
  onRotated,
}: {
  webhook: Webhook
  onClose: () => void
  onRotated: (webhook: CreatedWebhook) => void
}) {
  const { t } = useTranslation()
  const form = useForm({ initialValues: { overlapHours: String(DAY) } })
  const submit = useSubmit(form, {
    send: ({ overlapHours }) => rollcall.webhooks.rotateSecret(_id, { overlapHours: Number(overlapHours) }),
    onDone: onRotated,
  })
  const labelOf = (hours: number) => {
    if (hours === 0) return t('webhooks.rotate.atOnce')
    if (hours < DAY) return t('webhooks.rotate.hours', { count: hours })
    return t('webhooks.rotate.days', { count: hours / DAY })
  }
  return (
    <FormModal
      title={t('webhooks.rotate.title', { name })}
      form={form}
      submit={submit}
      action={t('webhooks.rotate.action')}
      onClose={onClose}
    >
      <Text size="md">{t('webhooks.rotate.text')}</Text>
      <Select
        label={t('webhooks.rotate.overlap')}
        data={OVERLAPS.map(hours => ({ value: String(hours), label: labelOf(hours) }))}
        allowDeselect={false}
        {...form.getInputProps('overlapHours')}
      />
    </FormModal>
  )
}
