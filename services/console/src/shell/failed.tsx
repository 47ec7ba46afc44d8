import { Button } from '@mantine/core'
import { RollcallError } from '@rollcall/sdk'
import { Link, useRouter } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { isStatus } from '../api.ts'
import { Page } from '../kit/page.tsx'
import { ProblemAlert } from '../kit/problem-alert.tsx'

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
  const router = useRouter()
  if (isStatus(error, 404)) return <NotFound />
  // Only a new page requests again a file that could not be loaded.
  const retry = () => (error instanceof RollcallError ? router.invalidate() : location.reload())
  return (
    <Page title={t('shell.failed.title')} narrow>
      <ProblemAlert error={error} onRetry={retry} />
    </Page>
  )
}
