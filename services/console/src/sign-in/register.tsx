import { Button, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { fieldProps, SubmitForm, useSubmit } from '../kit/form-modal.tsx'
import { PasswordField } from '../kit/password-field.tsx'
import { Frame, TextButton } from './frame.tsx'

/** Makes an organization with its owner, who is signed in then. */
export function Register({
  email,
  passwordMinLength,
  onRegistered,
  onBack,
}: {
  /** What was typed for the sign-in. */
  email: string
  passwordMinLength: number
  onRegistered: () => void
  onBack: () => void
}) {
  const { t } = useTranslation()
  const form = useForm({ initialValues: { organization: '', name: '', email, password: '' } })
  const submit = useSubmit(form, {
    send: ({ organization, ...values }) =>
      rollcall.authentication.register({ ...values, ...(organization && { organization }) }),
    onDone: onRegistered,
  })
  return (
    <Frame title={t('signIn.register.title')} lead={t('signIn.register.lead')}>
      <SubmitForm form={form} submit={submit}>
        <TextInput
          label={t('signIn.register.organization')}
          description={t('signIn.register.organizationHint')}
          name="organization"
          autoComplete="organization"
          autoFocus
          {...fieldProps('authentication.register', 'organization')}
          {...form.getInputProps('organization')}
        />
        <TextInput
          label={t('signIn.name')}
          name="name"
          autoComplete="name"
          withAsterisk={false}
          {...fieldProps('authentication.register', 'name')}
          {...form.getInputProps('name')}
        />
        <TextInput
          label={t('signIn.email')}
          type="email"
          name="email"
          autoComplete="username"
          withAsterisk={false}
          {...fieldProps('authentication.register', 'email')}
          {...form.getInputProps('email')}
        />
        <PasswordField
          label={t('signIn.password')}
          description={t('signIn.register.passwordHint', { count: passwordMinLength })}
          name="new-password"
          autoComplete="new-password"
          {...fieldProps('authentication.register', 'password')}
          {...form.getInputProps('password')}
        />
        <Stack gap="sm">
          <Button type="submit" fullWidth size="md" loading={submit.isPending}>
            {t('signIn.register.submit')}
          </Button>
          <TextButton onClick={onBack}>{t('signIn.back')}</TextButton>
        </Stack>
      </SubmitForm>
    </Frame>
  )
}
