import { Alert, Button, Group, Modal, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useDisclosure } from '@mantine/hooks'
import type { RemoveTotpBody } from '@rollcall/sdk'
import { type ReactNode, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { Action } from '../kit/action.tsx'
import { FormModal, fieldProps, useSubmit } from '../kit/form-modal.tsx'
import { PasswordField } from '../kit/password-field.tsx'
import { useReports } from '../kit/problem.ts'
import { StatusChip } from '../kit/status-chip.tsx'
import { useMe } from '../session.ts'
import { RecoveryCodes } from './recovery-codes.tsx'
import { SetUpSecondFactor } from './set-up-second-factor.tsx'

/** Below this many recovery codes, it is time for new ones. */
const FEW_CODES = 3

/** Whether the account has a second factor, and how to set it up or turn it off. */
export function SecondFactor() {
  const { t } = useTranslation()
  const { mfa } = useMe()
  const { done } = useReports()
  const [isSettingUp, setUp] = useDisclosure()
  const [isRenewing, renew] = useDisclosure()
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
        {mfa.totp && (
          <Action call="account.renewRecoveryCodes" variant="default" onClick={renew.open}>
            {t('account.secondFactor.renew')}
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
        <StayingModal title={t('account.secondFactor.setUp')}>
          <SetUpSecondFactor
            aside={
              <Button variant="default" onClick={setUp.close}>
                {t('kit.cancel')}
              </Button>
            }
            onDone={() => {
              setUp.close()
              done(t('account.secondFactor.turnedOn'))
            }}
          />
        </StayingModal>
      )}
      {isRenewing && <RenewCodes onClose={renew.close} />}
      {isTurningOff && <TurnOff onClose={turnOff.close} />}
    </>
  )
}

function TurnOff({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation()
  return (
    <Proof
      title={t('account.secondFactor.turnOffTitle')}
      text={t('account.secondFactor.turnOffText')}
      action={t('account.secondFactor.turnOff')}
      send={values => rollcall.account.removeTotp(values)}
      done={t('account.secondFactor.turnedOff')}
      onDone={onClose}
      onClose={onClose}
    />
  )
}

function RenewCodes({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation()
  const [codes, setCodes] = useState<string[]>()
  const title = t('account.secondFactor.renew')
  if (codes)
    return (
      <StayingModal title={title}>
        <RecoveryCodes codes={codes} done={t('account.secondFactor.renewed')} onStored={onClose} />
      </StayingModal>
    )
  return (
    <Proof
      title={title}
      text={t('account.secondFactor.renewText')}
      action={title}
      send={values => rollcall.account.renewRecoveryCodes(values)}
      onDone={answer => setCodes(answer.recoveryCodes)}
      onClose={onClose}
    />
  )
}

/** A dialog for what is shown once: only its own buttons close it. */
function StayingModal({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Modal opened onClose={() => {}} title={title} size="lg" withCloseButton={false} closeOnEscape={false}>
      {children}
    </Modal>
  )
}

/** Asks for the password and a code before something about the second factor changes. */
function Proof<Answer>({
  title,
  text,
  action,
  onClose,
  ...sending
}: {
  title: string
  text: string
  action: string
  send: (values: RemoveTotpBody) => Promise<Answer>
  done?: string
  onDone: (answer: Answer) => void
  onClose: () => void
}) {
  const { t } = useTranslation()
  const form = useForm({ initialValues: { password: '', code: '' } })
  const submit = useSubmit(form, sending)
  return (
    <FormModal title={title} form={form} submit={submit} action={action} onClose={onClose}>
      <Text>{text}</Text>
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
