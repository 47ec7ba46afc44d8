import { Button } from '@mantine/core'
import { Link, type LinkProps } from '@tanstack/react-router'
import type { ReactNode } from 'react'

/** A link that looks like a secondary button. */
export function ButtonLink({
  to,
  icon,
  children,
}: {
  to: NonNullable<LinkProps['to']>
  icon?: ReactNode
  children: ReactNode
}) {
  return (
    <Button component={Link} to={to} variant="default" leftSection={icon}>
      {children}
    </Button>
  )
}
