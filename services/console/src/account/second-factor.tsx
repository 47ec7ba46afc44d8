import { Alert, Group, Modal, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useDisclosure } from '@mantine/hooks'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { Action } from '../kit/action.tsx'
import { FormModal, fieldProps, useSubmit } from '../kit/form-modal.tsx'
import { PasswordField } from '../kit/password-field.tsx'
import { useReports } from '../kit/problem.ts'
import { StatusChip } from '../kit/status-chip.tsx'
import { useMe } from '../session.ts'
import { SetUpSecondFactor } from './set-up-second-factor.tsx'

/** Below this many recovery codes, it is time for new ones. */
const FEW_CODES = 3

/** Whether the account has a second factor, and how to set it up or turn it off. */
export function SecondFactor() {
  const { t } = useTranslation()
  const { mfa } = useMe()
  const { done } = useReports()
  const [isSettingUp, setUp] = useDisclosure()
  const [isTurningOff, turnOff] = useDisclosure()
  return (
    <>
      <Group gap="sm">
        <StatusChip tone={mfa.totp ? 'good' : 'neutral'}>
          {mfa.totp ? t('account.secondFactor.on') : t('account.secondFactor.off')}
        </StatusChip>
        {mfa.totp && <Text c="dimmed">{t('account.secondFactor.codesLeft', { count: mfa.recoveryCodesLeft })}</Text>}
      </Group>
      {mfa.totp && mfa.recoveryCodesLeft < FEW_CODES && (
        <Alert color="yellow">{t('account.secondFactor.fewCodes')}</Alert>
      )}
      <Group>
        {!mfa.totp && (
          <Action call="account.startTotp" onClick={setUp.open}>
            {t('account.secondFactor.setUp')}
          </Action>
        )}
        {mfa.totp && !mfa.required && (
          <Action call="account.removeTotp" variant="default" onClick={turnOff.open}>
            {t('account.secondFactor.turnOff')}
          </Action>
        )}
        {mfa.totp && mfa.required && <Text c="dimmed">{t('account.secondFactor.isRequired')}</Text>}
      </Group>
      {isSettingUp && (
        <Modal
          opened
          onClose={setUp.close}
          title={t('account.secondFactor.setUp')}
          size="lg"
          closeOnClickOutside={false}
          closeOnEscape={false}
        >
          <SetUpSecondFactor
            onDone={() => {
              setUp.close()
              done(t('account.secondFactor.turnedOn'))
            }}
          />
        </Modal>
      )}
      {isTurningOff && <TurnOff onClose={turnOff.close} />}
    </>
  )
}

function TurnOff({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation()
  const form = useForm({ initialValues: { password: '', code: '' } })
  const submit = useSubmit(form, {
    send: values => rollcall.account.removeTotp(values),
    done: t('account.secondFactor.turnedOff'),
    onDone: onClose,
  })
  return (
    <FormModal
      title={t('account.secondFactor.turnOffTitle')}
      form={form}
      submit={submit}
      action={t('account.secondFactor.turnOff')}
      onClose={onClose}
    >
      <Text>{t('account.secondFactor.turnOffText')}</Text>
      <PasswordField
        label={t('account.password.current')}
        name="current-password"
        autoComplete="current-password"
        {...fieldProps('account.removeTotp', 'password')}
        {...form.getInputProps('password')}
      />
      <TextInput
        label={t('account.secondFactor.code')}
        description={t('account.secondFactor.codeHint')}
        name="code"
        autoComplete="one-time-code"
        withAsterisk={false}
        {...fieldProps('account.removeTotp', 'code')}
        {...form.getInputProps('code')}
      />
    </FormModal>
  )
}
