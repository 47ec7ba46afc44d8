import { Anchor, Paper, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import mark from '../shell/mark.svg'
import classes from './frame.module.css'

/** The page of everything that happens before one is signed in. */
export function Frame({
  title,
  lead,
  children,
  wide = false,
}: {
  title: string
  lead?: ReactNode
  children: ReactNode
  /** For more than a short form. */
  wide?: boolean
}) {
  const { t } = useTranslation()
  return (
    <main className={classes.frame}>
      <title>{`${title} · Rollcall`}</title>
      <div className={classes.product}>
        <img src={mark} alt="" width={28} height={28} />
        <span>{t('shell.product')}</span>
      </div>
      <Paper className={classes.card} data-wide={wide || undefined} withBorder>
        <h1 className={classes.title}>{title}</h1>
        {lead && (
          <Text c="dimmed" mb="lg">
            {lead}
          </Text>
        )}
        {children}
      </Paper>
    </main>
  )
}

/** A button that reads as a link. */
export function TextButton({ onClick, children }: { onClick: () => void; children: ReactNode }) {
  return (
    <Anchor component="button" type="button" size="sm" mih={24} onClick={onClick}>
      {children}
    </Anchor>
  )
}
