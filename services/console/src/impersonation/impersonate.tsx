import { Alert, Text, Textarea } from '@mantine/core'
import { useForm } from '@mantine/form'
import type { User } from '@rollcall/sdk'
import { useTranslation } from 'react-i18next'
import { FormModal, fieldProps, useSubmit } from '../kit/form-modal.tsx'
import { useImpersonate } from './use-impersonate.ts'

/** Asks for the reason of an impersonation, and begins it. */
export function Impersonate({ user, onClose }: { user: User; onClose: () => void }) {
  const { t } = useTranslation()
  const impersonate = useImpersonate()
  const form = useForm({ initialValues: { reason: '' } })
  const submit = useSubmit(form, { send: ({ reason }) => impersonate(user, reason) })
  return (
    <FormModal
      title={t('impersonation.title', { name: user.name })}
      form={form}
      submit={submit}
      action={t('impersonation.start')}
      onClose={onClose}
    >
      <Text size="md">{t('impersonation.text', { name: user.name })}</Text>
      <Textarea
        label={t('impersonation.reason')}
        description={t('impersonation.reasonHint')}
        autosize
        minRows={2}
        data-autofocus
        {...fieldProps('authentication.impersonate', 'reason')}
        {...form.getInputProps('reason')}
      />
      <Alert color="yellow" icon={null}>
        {t('impersonation.audit')}
      </Alert>
    </FormModal>
  )
}
