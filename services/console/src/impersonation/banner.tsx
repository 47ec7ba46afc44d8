import { Button } from '@mantine/core'
import { useInterval } from '@mantine/hooks'
import { EyeIcon } from '@primer/octicons-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useAct } from '../kit/confirm.tsx'
import classes from './banner.module.css'
import { type Impersonation, useImpersonation } from './store.ts'
import { timeLeft } from './time-left.ts'
import { useStopImpersonating } from './use-impersonate.ts'

const SECOND_MS = 1000

/** Says, on every screen, as whom one sees the console, for how long, and how to stop. */
export function ImpersonationBanner() {
  const impersonation = useImpersonation()
  return impersonation ? <Banner impersonation={impersonation} /> : null
}

function Banner({ impersonation: { user, by, expiresAt } }: { impersonation: Impersonation }) {
  const { t } = useTranslation()
  const act = useAct()
  const stop = useStopImpersonating()
  const [now, setNow] = useState(Date.now)
  const end = () => act({ run: stop, done: t('impersonation.stopped', { name: user.name }) })
  const left = new Date(expiresAt).getTime() - now
  useInterval(
    () => {
      setNow(Date.now())
      if (new Date(expiresAt).getTime() <= Date.now()) void end()
    },
    SECOND_MS,
    { autoInvoke: true },
  )
  return (
    <section className={classes.banner} aria-label={t('impersonation.label')}>
      <EyeIcon />
      <span className={classes.text}>
        {t('impersonation.banner', { by, name: user.name })}{' '}
        <span role="timer" className="rc-tabular">
          {t('impersonation.left', { time: timeLeft(left) })}
        </span>
      </span>
      <Button size="compact-sm" color="dark" variant="filled" onClick={() => void end()}>
        {t('impersonation.stop')}
      </Button>
    </section>
  )
}
