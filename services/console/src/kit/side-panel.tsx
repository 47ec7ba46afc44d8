import { Drawer } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { ListSearch } from './list-search.ts'
import classes from './side-panel.module.css'

/** Shows a record beside its list: the one that `?show` names. */
export function SidePanel({ title, children }: { title: string; children: ReactNode }) {
  const navigate = useNavigate()
  const close = () => void navigate({ to: '.', search: ({ show: _, ...rest }: ListSearch) => rest, resetScroll: false })
  return (
    <Drawer opened onClose={close} title={title} classNames={{ body: classes.body }}>
      {children}
    </Drawer>
  )
}

/** Returns the id of the record that is shown beside the list. */
export function useShown(): string | undefined {
  return (useSearch({ strict: false }) as ListSearch).show
}

/** Returns the search parameters of a link that shows a record beside the list. */
export function showing(id: string): (before: ListSearch) => ListSearch {
  return before => ({ ...before, show: id })
}
