import { ArrowLeftIcon } from '@primer/octicons-react'
import { Link, type LinkProps } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import classes from './page.module.css'

/** The way back to the list that a record is in. */
export function BackLink({ to, children }: { to: NonNullable<LinkProps['to']>; children: ReactNode }) {
  return (
    <Link to={to} className={classes.back}>
      <ArrowLeftIcon size={14} /> {children}
    </Link>
  )
}
