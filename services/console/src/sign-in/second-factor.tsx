import { Alert, Button, Stack, Text, TextInput } from '@mantine/core'
import { RollcallError } from '@rollcall/sdk'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { useProblemText } from '../kit/problem.ts'
import { CodeInput } from './code-input.tsx'
import { TextButton } from './frame.tsx'

type Props = {
  mfaToken: string
  onEnter: () => void
  /** Begins the sign-in again. */
  onBack: () => void
}

/** The second step of signing in: a code of the authenticator app, or a recovery code. */
export function SecondFactor({ mfaToken, onEnter, onBack }: Props) {
  const { t } = useTranslation()
  const problemText = useProblemText()
  const [code, setCode] = useState('')
  const [isRecovery, setRecovery] = useState(false)
  const verify = useMutation({
    mutationFn: (code: string) => rollcall.authentication.verifyMfa({ mfaToken, code }),
    onSuccess: onEnter,
    onError: () => setCode(''),
  })
  const change = (recovery: boolean) => {
    setRecovery(recovery)
    setCode('')
    verify.reset()
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    verify.mutate(code)
  }
  const refusal = verify.error instanceof RollcallError ? verify.error.code : undefined
  if (refusal === 'sign_in.expired')
    return (
      <Stack gap="md">
        <Alert color="red" role="alert">
          {t('signIn.second.expired')}
        </Alert>
        <Button variant="default" fullWidth onClick={onBack}>
          {t('signIn.back')}
        </Button>
      </Stack>
    )
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        {verify.error && (
          <Alert color="red" role="alert">
            {refusal === 'sign_in.wrong_second_factor' ? t('signIn.second.wrong') : problemText(verify.error)}
          </Alert>
        )}
        {isRecovery ? (
          <>
            <TextInput
              label={t('signIn.second.recoveryCode')}
              description={t('signIn.second.recoveryHint')}
              name="recovery-code"
              autoComplete="off"
              autoFocus
              required
              withAsterisk={false}
              maxLength={40}
              value={code}
              onChange={event => setCode(event.currentTarget.value)}
            />
            <Button type="submit" fullWidth size="md" loading={verify.isPending}>
              {t('signIn.submit')}
            </Button>
          </>
        ) : (
          <>
            <Text c="dimmed">{t('signIn.second.lead')}</Text>
            <CodeInput check={verify} />
          </>
        )}
        <TextButton onClick={() => change(!isRecovery)}>
          {isRecovery ? t('signIn.second.useApp') : t('signIn.second.useRecovery')}
        </TextButton>
        <TextButton onClick={onBack}>{t('signIn.back')}</TextButton>
      </Stack>
    </form>
  )
}
