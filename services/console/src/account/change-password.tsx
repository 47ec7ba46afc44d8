import { Button, Group } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { useRefusal } from '../kit/action.tsx'
import { fieldProps, SubmitForm, useSubmit } from '../kit/form-modal.tsx'
import { PasswordField } from '../kit/password-field.tsx'
import { useMe } from '../session.ts'
import classes from './account.module.css'

const EMPTY = { currentPassword: '', newPassword: '' }

/** The form of a new password, which asks for the present one. */
export function ChangePassword() {
  const { t } = useTranslation()
  const { email } = useMe().user
  const refusal = useRefusal()('account.changePassword')
  const form = useForm({ initialValues: EMPTY })
  const submit = useSubmit(form, {
    send: values => rollcall.account.changePassword(values),
    done: t('account.password.done'),
    onDone: () => form.setValues(EMPTY),
  })
  return (
    <div className={classes.form}>
      <SubmitForm form={form} submit={submit}>
        <input type="email" name="email" autoComplete="username" value={email} readOnly hidden />
        <PasswordField
          label={t('account.password.current')}
          name="current-password"
          autoComplete="current-password"
          {...fieldProps('account.changePassword', 'currentPassword')}
          {...form.getInputProps('currentPassword')}
        />
        <PasswordField
          label={t('signIn.newPassword')}
          name="new-password"
          autoComplete="new-password"
          {...fieldProps('account.changePassword', 'newPassword')}
          {...form.getInputProps('newPassword')}
        />
        <Group>
          <Button type="submit" loading={submit.isPending} disabled={Boolean(refusal)}>
            {t('account.password.submit')}
          </Button>
        </Group>
      </SubmitForm>
    </div>
  )
}
