import { Text } from '@mantine/core'
import type { Icon } from '@primer/octicons-react'
import type { ReactNode } from 'react'
import classes from './empty.module.css'

/** What a screen shows before its first record: what belongs here, and how to make one. */
export function Empty({
  icon: Icon,
  title,
  children,
  action,
}: {
  icon: Icon
  title: string
  children: ReactNode
  action?: ReactNode
}) {
  return (
    <div className={classes.empty}>
      <div className={classes.icon}>
        <Icon size={20} />
      </div>
      <Text fw={600} size="lg">
        {title}
      </Text>
      <Text c="dimmed" maw="26rem" ta="center">
        {children}
      </Text>
      {action && <div className={classes.action}>{action}</div>}
    </div>
  )
}
