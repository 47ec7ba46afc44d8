import { Button, Code, Stack, Text } from '@mantine/core'
import { Link, useRouter } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { ApiError } from '../api.ts'
import { Page } from '../kit/page.tsx'
import { useProblemText } from '../kit/problem.ts'

/** Says that there is no such page. */
export function NotFound() {
  const { t } = useTranslation()
  return (
    <Page title={t('shell.notFound.title')} lead={t('shell.notFound.text')} narrow>
      <div>
        <Button component={Link} to="/" variant="default">
          {t('shell.notFound.action')}
        </Button>
      </div>
    </Page>
  )
}

/** Says that a screen could not be shown, and offers to try again. */
export function Failed({ error }: { error: unknown }) {
  const { t } = useTranslation()
  const problemText = useProblemText()
  const router = useRouter()
  return (
    <Page title={t('shell.failed.title')} narrow>
      <Stack align="flex-start" role="alert">
        <Text>{problemText(error)}</Text>
        {error instanceof ApiError && error.requestId && (
          <Text size="sm" c="dimmed">
            {t('kit.requestId')} <Code>{error.requestId}</Code>
          </Text>
        )}
        <Button variant="default" onClick={() => router.invalidate()}>
          {t('shell.failed.retry')}
        </Button>
      </Stack>
    </Page>
  )
}
