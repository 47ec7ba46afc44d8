import { Alert, Button, Group, Text } from '@mantine/core'
import { AlertIcon } from '@primer/octicons-react'
import { RollcallError } from '@rollcall/sdk'
import { useTranslation } from 'react-i18next'
import { Copyable } from './copyable.tsx'
import { useProblemText } from './problem.ts'

/** Says what did not work, with the id of the request, and offers to try again. */
export function ProblemAlert({ error, onRetry }: { error: unknown; onRetry?: () => unknown }) {
  const { t } = useTranslation()
  const problemText = useProblemText()
  const requestId = error instanceof RollcallError ? error.requestId : undefined
  return (
    <Alert color="red" icon={<AlertIcon />} role="alert" title={t('kit.errors.title')}>
      <Text size="md">{problemText(error)}</Text>
      <Group mt="xs" gap="sm">
        {onRetry && (
          <Button variant="default" onClick={() => onRetry()}>
            {t('kit.errors.retry')}
          </Button>
        )}
        {requestId && <Copyable value={requestId} what={t('kit.requestId')} mono />}
      </Group>
    </Alert>
  )
}
