import { Alert, Button, Stack } from '@mantine/core'
import { RollcallError } from '@rollcall/sdk'
import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { queryClient, rollcall } from '../api.ts'
import { useProblemText } from '../kit/problem.ts'
import { Frame } from './frame.tsx'
import { linkSecret } from './link-secret.ts'

/** Changes the email address by the mailed link that led here, once a person says so: mail scanners open links too. */
export function VerifyEmail() {
  const { t } = useTranslation()
  const problemText = useProblemText()
  const verify = useMutation({
    mutationFn: () => rollcall.authentication.verifyEmail({ token: linkSecret() }),
    onSuccess: () => queryClient.clear(),
  })
  const textOf = (error: Error) => {
    if (!(error instanceof RollcallError)) return problemText(error)
    if (error.path === 'token') return t('signIn.emailChange.gone')
    return error.path === 'email' ? t('signIn.emailChange.taken') : problemText(error)
  }
  const isOpen = linkSecret() !== '' && !verify.isSuccess && !(verify.error instanceof RollcallError)
  return (
    <Frame title={t('signIn.emailChange.title')} lead={isOpen ? t('signIn.emailChange.lead') : undefined}>
      <Stack gap="md">
        {!linkSecret() && (
          <Alert color="red" role="alert">
            {t('signIn.noSecret')}
          </Alert>
        )}
        {verify.error && (
          <Alert color="red" role="alert">
            {textOf(verify.error)}
          </Alert>
        )}
        {verify.isSuccess && (
          <Alert color="teal" role="status">
            {t('signIn.emailChange.done')}
          </Alert>
        )}
        {isOpen ? (
          <Button fullWidth size="md" loading={verify.isPending} onClick={() => verify.mutate()}>
            {t('signIn.emailChange.confirm')}
          </Button>
        ) : (
          <Button component={Link} to="/account" variant="default" fullWidth>
            {t('signIn.toConsole')}
          </Button>
        )}
      </Stack>
    </Frame>
  )
}
