import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import classes from './imports.module.css'

/** The way back, and what follows a step. */
export function Foot({ onBack, children }: { onBack: () => void; children: ReactNode }) {
  const { t } = useTranslation()
  return (
    <div className={classes.foot}>
      <Button variant="default" onClick={onBack}>
        {t('kit.back')}
      </Button>
      {children}
    </div>
  )
}
