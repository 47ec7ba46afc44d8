import { Alert, Checkbox, Group, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import type { Webhook } from '@rollcall/sdk'
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { FormModal, useSubmit } from '../kit/form-modal.tsx'
import { fromLocal, toLocal } from '../kit/local-time.ts'
import { useReports } from '../kit/problem.ts'

const DAY_MS = 86_400_000

/** Schedules again what failed within a period. Says before how much that is. */
export function Recover({ webhook: { _id, name, active }, onClose }: { webhook: Webhook; onClose: () => void }) {
  const { t } = useTranslation()
  const { done } = useReports()
  const form = useForm({ initialValues: { since: toLocal(new Date(Date.now() - DAY_MS)), until: '', missed: false } })
  const since = fromLocal(form.values.since)
  const until = fromLocal(form.values.until)
  const { data: failed } = useQuery({
    queryKey: ['webhooks', _id, 'failed', since, until],
    queryFn: async ({ signal }) => {
      const createdAt = { $gte: since!, ...(until && { $lte: until }) }
      const filter = { state: { $in: ['failed', 'discarded'] as const }, test: false, createdAt }
      return (await rollcall.deliveries.list(_id, { filter, limit: 1 }, { signal })).totalDocs
    },
    enabled: since !== undefined,
  })
  const submit = useSubmit(form, {
    send: ({ missed }) => rollcall.webhooks.recover(_id, { since: since ?? '', missed, ...(until && { until }) }),
    onDone: ({ scheduled }) => {
      done(t('webhooks.recover.done', { count: scheduled }))
      onClose()
    },
  })
  return (
    <FormModal
      title={t('webhooks.recover.title', { name })}
      form={form}
      submit={submit}
      action={t('webhooks.recover.action')}
      onClose={onClose}
      isIncomplete={!active}
    >
      <Text size="md">{t('webhooks.recover.text')}</Text>
      <Group grow align="flex-start">
        <TextInput
          type="datetime-local"
          label={t('webhooks.recover.since')}
          required
          data-autofocus
          {...form.getInputProps('since')}
        />
        <TextInput
          type="datetime-local"
          label={t('webhooks.recover.until')}
          description={t('webhooks.recover.untilHint')}
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          {...form.getInputProps('until')}
        />
      </Group>
      <Checkbox label={t('webhooks.recover.missed')} {...form.getInputProps('missed', { type: 'checkbox' })} />
      {failed !== undefined && <Text role="status">{t('webhooks.recover.failed', { count: failed })}</Text>}
      {!active && <Alert color="orange">{t('webhooks.recover.isOff')}</Alert>}
    </FormModal>
  )
}
