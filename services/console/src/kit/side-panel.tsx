import { Drawer } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
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
