import { Alert, Button, Group, Text } from '@mantine/core'
import { AlertIcon } from '@primer/octicons-react'
import { RollcallError } from '@rollcall/sdk'
import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { useMissing } from '../session.ts'
import { Copyable } from './copyable.tsx'
import { useProblemText } from './problem.ts'

/** Says what did not work, with the id of the request, and offers to try again. */
export function ProblemAlert({
  error,
  onRetry,
  action,
}: {
  error: unknown
  onRetry?: () => unknown
  /** What the button says if it does more than try again. */
  action?: string
}) {
  const { t } = useTranslation()
  const problemText = useProblemText()
  const requestId = error instanceof RollcallError ? error.requestId : undefined
  return (
    <Alert color="red" icon={<AlertIcon />} role="alert" title={t('kit.errors.title')}>
      <Text size="md">{problemText(error)}</Text>
      {error instanceof RollcallError && error.code === 'provider.not_configured' && <ProviderLink />}
      <Group mt="xs" gap="sm">
        {onRetry && (
          <Button variant="default" onClick={() => onRetry()}>
            {action ?? t('kit.errors.retry')}
          </Button>
        )}
        {requestId && <Copyable value={requestId} what={t('kit.requestId')} mono />}
      </Group>
    </Alert>
  )
}

/** Leads people who may set up the mail provider to where that is done. */
export function ProviderLink() {
  const { t } = useTranslation()
  if (useMissing()('providers.set')) return null
  return (
    <Text size="md">
      <Link to="/settings" search={{ tab: 'provider' }} className="rc-link" ignoreBlocker>
        {t('kit.errors.setUpProvider')}
      </Link>
    </Text>
  )
}
