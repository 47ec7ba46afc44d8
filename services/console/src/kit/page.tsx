import { Group, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useRouterState } from '@tanstack/react-router'
import { type ReactNode, useEffect, useRef } from 'react'
import { meQuery } from '../session.ts'
import classes from './page.module.css'
import { rememberPage } from './recent.ts'

/** A screen: its one heading, which the tab's title repeats, its actions and its content. */
export function Page({
  title,
  lead,
  actions,
  above,
  children,
  narrow = false,
}: {
  title: string
  lead?: ReactNode
  actions?: ReactNode
  /** What stands over the heading: the way back. */
  above?: ReactNode
  children: ReactNode
  /** Keeps lines short: forms and settings. */
  narrow?: boolean
}) {
  useRemembered(title, Boolean(above && lead))
  return (
    <div className={classes.page} data-narrow={narrow || undefined}>
      <title>{`${title} · Rollcall`}</title>
      {above}
      <div className={classes.head}>
        <div className={classes.titles}>
          <Heading>{title}</Heading>
          {lead && (
            <Text c="dimmed" size="md" component="div">
              {lead}
            </Text>
          )}
        </div>
        {actions && (
          <Group gap="xs" className={classes.actions}>
            {actions}
          </Group>
        )}
      </div>
      {children}
    </div>
  )
}

/** Keeps the record that is shown among the recent ones of the palette. */
function useRemembered(title: string, isRecord: boolean): void {
  const client = useQueryClient()
  const path = useRouterState({ select: state => state.location.pathname })
  useEffect(() => {
    const me = client.getQueryData(meQuery.queryKey)
    if (isRecord && me) rememberPage(me.user._id, { path, title })
  }, [client, isRecord, path, title])
}

/** Takes the focus when one comes from another screen, so that it is read out. */
function Heading({ children }: { children: ReactNode }) {
  const heading = useRef<HTMLHeadingElement>(null)
  const cameFrom = useRouterState({ select: state => state.resolvedLocation?.pathname })
  const isFirst = useRef(cameFrom === undefined)
  useEffect(() => {
    if (!isFirst.current) heading.current?.focus({ preventScroll: true })
  }, [])
  return (
    <h1 ref={heading} tabIndex={-1} className={classes.title}>
      {children}
    </h1>
  )
}
