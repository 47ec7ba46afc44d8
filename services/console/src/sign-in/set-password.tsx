import { Alert, Button, Checkbox, Stack } from '@mantine/core'
import { useForm } from '@mantine/form'
import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { fieldProps, SubmitForm, useSubmit } from '../kit/form-modal.tsx'
import { PasswordField } from '../kit/password-field.tsx'
import { Frame } from './frame.tsx'
import { linkSecret } from './link-secret.ts'

/** Sets a new password by the mailed link that led here. */
export function SetPassword() {
  const { t } = useTranslation()
  const form = useForm({ initialValues: { password: '', deactivateTokens: false } })
  const submit = useSubmit(form, {
    send: values => rollcall.authentication.resetPassword({ ...values, token: linkSecret() }),
  })
  const toSignIn = (
    <Button component={Link} to="/sign-in" variant="default" fullWidth>
      {t('signIn.back')}
    </Button>
  )
  if (submit.isSuccess || !linkSecret())
    return (
      <Frame title={t('signIn.setPassword')}>
        <Stack gap="md">
          {submit.isSuccess ? (
            <Alert color="teal" role="status">
              {t('signIn.saved')}
            </Alert>
          ) : (
            <Alert color="red" role="alert">
              {t('signIn.noSecret')}
            </Alert>
          )}
          {toSignIn}
        </Stack>
      </Frame>
    )
  return (
    <Frame title={t('signIn.setPassword')} lead={t('signIn.setPasswordLead')}>
      <SubmitForm form={form} submit={submit}>
        <PasswordField
          label={t('signIn.newPassword')}
          name="new-password"
          autoComplete="new-password"
          autoFocus
          {...fieldProps('authentication.resetPassword', 'password')}
          {...form.getInputProps('password')}
        />
        <Checkbox
          label={t('signIn.deactivateTokens')}
          {...form.getInputProps('deactivateTokens', { type: 'checkbox' })}
        />
        <Button type="submit" fullWidth size="md" loading={submit.isPending}>
          {t('signIn.save')}
        </Button>
        {submit.isError && !submit.isAtField && toSignIn}
      </SubmitForm>
    </Frame>
  )
}
