import { Alert, Button, Group, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { useRefusal } from '../kit/action.tsx'
import { fieldProps, SubmitForm, useSubmit } from '../kit/form-modal.tsx'
import { PasswordField } from '../kit/password-field.tsx'
import classes from './account.module.css'

const EMPTY = { email: '', password: '' }

/** The form of a new email address, which changes with the link that is mailed to it. */
export function ChangeEmail() {
  const { t } = useTranslation()
  const refusal = useRefusal()('account.changeEmail')
  const [sentTo, setSentTo] = useState('')
  const form = useForm({ initialValues: EMPTY })
  const submit = useSubmit(form, {
    send: async values => {
      setSentTo('')
      await rollcall.account.changeEmail(values)
      setSentTo(values.email)
    },
    onDone: () => form.setValues(EMPTY),
  })
  return (
    <div className={classes.form}>
      <SubmitForm form={form} submit={submit}>
        {sentTo && (
          <Alert color="teal" role="status">
            {t('account.email.sent', { email: sentTo })}
          </Alert>
        )}
        <TextInput
          label={t('account.email.new')}
          type="email"
          name="new-email"
          autoComplete="email"
          withAsterisk={false}
          {...fieldProps('account.changeEmail', 'email')}
          {...form.getInputProps('email')}
        />
        <PasswordField
          label={t('account.email.password')}
          name="password-for-email"
          autoComplete="current-password"
          {...fieldProps('account.changeEmail', 'password')}
          {...form.getInputProps('password')}
        />
        <Group>
          <Button type="submit" loading={submit.isPending} disabled={Boolean(refusal)}>
            {t('account.email.submit')}
          </Button>
        </Group>
      </SubmitForm>
    </div>
  )
}
