import { Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import type { Campaign } from '@rollcall/sdk'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { FormModal, fieldProps, useSubmit } from '../kit/form-modal.tsx'
import { fromLocal, toLocal } from '../kit/local-time.ts'

const HOUR_MS = 3_600_000

/** Sets the time at which a campaign starts. */
export function Schedule({
  campaign: { _id, name, scheduledAt },
  onClose,
  onDone,
}: {
  campaign: Campaign
  onClose: () => void
  onDone: () => void
}) {
  const { t } = useTranslation()
  const next = new Date(Math.ceil((Date.now() + HOUR_MS) / HOUR_MS) * HOUR_MS)
  const form = useForm({ initialValues: { at: toLocal(scheduledAt ? new Date(scheduledAt) : next) } })
  const submit = useSubmit(form, {
    send: ({ at }) => rollcall.campaigns.schedule(_id, { at: fromLocal(at) ?? at }),
    done: t('campaigns.scheduled', { name }),
    onDone,
  })
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone
  return (
    <FormModal
      title={t('campaigns.scheduleTitle')}
      form={form}
      submit={submit}
      action={t('campaigns.schedule')}
      onClose={onClose}
    >
      <Text size="md">{t('campaigns.scheduleText')}</Text>
      <TextInput
        type="datetime-local"
        label={t('campaigns.at')}
        description={t('campaigns.zone', { zone })}
        data-autofocus
        {...fieldProps('campaigns.schedule', 'at')}
        {...form.getInputProps('at')}
      />
    </FormModal>
  )
}
