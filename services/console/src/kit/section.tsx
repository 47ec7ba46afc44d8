import { Text } from '@mantine/core'
import { type ReactNode, useId } from 'react'
import classes from './section.module.css'

/** A part of a screen with a heading of its own. */
export function Section({
  title,
  lead,
  action,
  children,
}: {
  title: string
  lead?: ReactNode
  action?: ReactNode
  children: ReactNode
}) {
  const id = useId()
  return (
    <section aria-labelledby={id} className={classes.section}>
      <div className={classes.head}>
        <div>
          <h2 id={id} className={classes.heading}>
            {title}
          </h2>
          {lead && (
            <Text c="dimmed" size="sm" component="div">
              {lead}
            </Text>
          )}
        </div>
        {action && <div className={classes.action}>{action}</div>}
      </div>
      {children}
    </section>
  )
}
