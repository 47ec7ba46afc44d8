import { Alert, Text } from '@mantine/core'
import { AlertIcon } from '@primer/octicons-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useMe } from '../session.ts'
import classes from './shell.module.css'

/** Says which rights the person has gained or lost since this tab was opened, until it is dismissed. */
export function RightsChanged() {
  const { t } = useTranslation()
  const { permissions } = useMe()
  const [known, setKnown] = useState(permissions)
  const lost = known.filter(permission => !permissions.includes(permission))
  const gained = permissions.filter(permission => !known.includes(permission))
  if (lost.length + gained.length === 0) return null
  return (
    <Alert
      className={classes.notice}
      color="yellow"
      icon={<AlertIcon />}
      role="alert"
      title={t('shell.rights.title')}
      withCloseButton
      closeButtonLabel={t('kit.close')}
      onClose={() => setKnown(permissions)}
    >
      {lost.length > 0 && <Text size="sm">{t('shell.rights.lost', { permissions: lost.join(', ') })}</Text>}
      {gained.length > 0 && <Text size="sm">{t('shell.rights.gained', { permissions: gained.join(', ') })}</Text>}
    </Alert>
  )
}
