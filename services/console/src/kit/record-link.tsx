import { Link, type LinkProps } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { ListSearch } from './list-search.ts'
import classes from './record-link.module.css'

/** The cell of a row that leads to its record: its name, and what else says which one it is. */
export function RecordLink({
  name,
  detail,
  ...link
}: Pick<LinkProps, 'to' | 'params'> & {
  search?: ListSearch | ((before: ListSearch) => ListSearch)
  name: ReactNode
  detail?: ReactNode
}) {
  return (
    <Link {...(link as LinkProps)} className={classes.link}>
      <span className={classes.name}>{name}</span>
      {detail && <span className={classes.detail}>{detail}</span>}
    </Link>
  )
}
