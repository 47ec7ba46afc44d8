import { Button, type ButtonProps, Menu, Tooltip } from '@mantine/core'
import { type CallName, routes } from '@rollcall/sdk'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { useMe, useMissing } from '../session.ts'
import classes from './action.module.css'

/** A call of the API, or several that something takes. */
type Calls = CallName | readonly CallName[]

/** Returns why a call is not open to the person, undefined if it is. Of several calls, the first that is not. */
export function useRefusal(): (calls: Calls | undefined) => string | undefined {
  const { t } = useTranslation()
  const { impersonatedBy } = useMe()
  const missing = useMissing()
  const refusalOf = (call: CallName) => {
    const permission = missing(call)
    if (permission) return t('kit.errors.forbidden', { permission })
    return impersonatedBy && routes[call].verb !== 'GET' ? t('kit.errors.readOnly') : undefined
  }
  return (calls = []) => [calls].flat().map(refusalOf).find(Boolean)
}

/** A button for a call of the API: without the permission it is off and says which one is missing. */
export function Action({
  call,
  children,
  onClick,
  unless,
  ...props
}: ButtonProps & {
  call: Calls
  children: ReactNode
  onClick: () => void
  /** Why it cannot be done for another reason than a permission. */
  unless?: string | undefined
}) {
  const refusal = useRefusal()(call) ?? unless
  return (
    <Tooltip label={refusal} disabled={!refusal}>
      <Button
        {...props}
        aria-disabled={Boolean(refusal)}
        {...(refusal && { 'data-disabled': true })}
        onClick={() => !refusal && onClick()}
      >
        {children}
      </Button>
    </Tooltip>
  )
}

/** The same as an entry of a menu. */
export function MenuAction({
  call,
  children,
  onClick,
  danger = false,
  icon,
  unless,
}: {
  call: Calls
  children: ReactNode
  onClick: () => void
  danger?: boolean
  icon?: ReactNode
  /** Why it cannot be done for another reason than a permission. */
  unless?: string | undefined
}) {
  const refusal = useRefusal()(call) ?? unless
  return (
    <Menu.Item
      {...(danger && { className: classes.danger })}
      leftSection={icon}
      disabled={Boolean(refusal)}
      title={refusal}
      onClick={onClick}
    >
      {children}
    </Menu.Item>
  )
}
