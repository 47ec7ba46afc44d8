import { Group, NumberInput, PasswordInput, Stack, Text, TextInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import type { SenderSmtp, Smtp } from '@rollcall/sdk'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { Action } from '../kit/action.tsx'
import { useSubmit } from '../kit/form-modal.tsx'
import { ProblemAlert } from '../kit/problem-alert.tsx'

const SUBMISSION_PORT = 587

/** A mail server as a form holds it: texts may be empty. */
export type SmtpValues = { host: string; port: number | string; username: string; password: string }

/** Returns the initial values of a sender's mail server. Passwords are not shown again. */
export function valuesOfSmtp(smtp?: SenderSmtp | null): SmtpValues {
  return {
    host: smtp?.host ?? '',
    port: smtp?.port ?? SUBMISSION_PORT,
    username: smtp?.username ?? '',
    password: '',
  }
}

/** Returns a mail server as the API takes it. */
export function smtpOf({ host, port, username, password }: SmtpValues): Smtp {
  return { host, port: Number(port), ...(username && { username }), ...(password && { password }) }
}

/** The mail server of a sender, and a button that tries whether it accepts what is entered. */
export function SmtpFields<Values extends { smtp: SmtpValues }>({
  form,
  isStored = false,
}: {
  form: UseFormReturnType<Values>
  /** Whether there is a password that stays if none is entered. A test has to be given it again. */
  isStored?: boolean
}) {
  const { t } = useTranslation()
  const { host, username, password } = form.values.smtp
  const lacksPassword = username !== '' && password === ''
  return (
    <>
      <Group grow align="flex-start">
        <TextInput label={t('senders.host')} required {...form.getInputProps('smtp.host')} />
        <NumberInput label={t('senders.port')} required hideControls {...form.getInputProps('smtp.port')} />
      </Group>
      <Group grow align="flex-start">
        <TextInput label={t('senders.username')} autoComplete="off" {...form.getInputProps('smtp.username')} />
        <PasswordInput
          label={t('kit.field.password')}
          description={isStored && t('senders.passwordKept')}
          autoComplete="new-password"
          {...form.getInputProps('smtp.password')}
        />
      </Group>
      <ConnectionTest form={form} isPossible={host !== '' && !lacksPassword} />
    </>
  )
}

function ConnectionTest<Values extends { smtp: SmtpValues }>({
  form,
  isPossible,
}: {
  form: UseFormReturnType<Values>
  isPossible: boolean
}) {
  const { t } = useTranslation()
  const test = useSubmit(form, {
    send: ({ smtp }) => rollcall.senders.testSmtp({ smtp: smtpOf(smtp) }),
    isCheck: true,
  })
  const isOfThese = test.variables === form.values
  const error = isOfThese && !test.isAtField ? test.error : null
  return (
    <Stack gap="xs" align="flex-start">
      <Action
        call="senders.testSmtp"
        variant="default"
        loading={test.isPending}
        disabled={!isPossible}
        onClick={() => test.mutate(form.values)}
      >
        {t('senders.testSmtp')}
      </Action>
      <Text size="sm" role="status">
        {isOfThese && test.isSuccess && t('senders.smtpWorks')}
      </Text>
      {error && <ProblemAlert error={error} />}
    </Stack>
  )
}
