import { useTranslation } from 'react-i18next'
import { Page } from '../kit/page.tsx'
import { useMe } from '../session.ts'

/** What the organization has, at a glance. */
export function Overview() {
  const { t } = useTranslation()
  const { organization } = useMe()
  return (
    <Page title={t('shell.areas.overview')} lead={organization.name}>
      {null}
    </Page>
  )
}
