import { type ComboboxItem, Select } from '@mantine/core'
import type { Role } from '@rollcall/sdk'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { useMe, useMissing } from '../session.ts'
import { excessOf } from './matrix.ts'
import { permissionsQuery, rolesQuery } from './queries.ts'
import classes from './role-select.module.css'

/** Permissions that are named of those that a role has beyond one's own. */
const SHOWN = 3

/** The part of a role that a choice needs. */
type Choice = Pick<Role, 'name' | 'kind' | 'builtIn' | 'permissions'>

/** The roles that are there also for those who may not list roles. */
const BUILT_IN: readonly Choice[] = [
  { name: 'owner', kind: 'both', builtIn: true, permissions: { '*': [] } },
  { name: 'admin', kind: 'both', builtIn: true, permissions: { '*': [] } },
  { name: 'user', kind: 'both', builtIn: true, permissions: {} },
]

/** A choice of roles. Those beyond one's own permissions are off, and say which ones one lacks. */
export function RoleSelect({
  offers,
  excessIn,
  ...props
}: {
  /** Which roles are offered. */
  offers: (role: Choice) => boolean
  /** What a role has beyond one's own rights, if other than the permissions in the organization count. */
  excessIn?: ((role: Choice) => readonly string[]) | undefined
  value?: string | null
  onChange?: (role: string | null) => void
  error?: ReactNode
  description?: string
  placeholder?: string
  clearable?: boolean
}) {
  const { t } = useTranslation()
  const me = useMe()
  const missing = useMissing()
  const mayList = !missing('roles.list')
  const { data: listed = [] } = useQuery({ ...rolesQuery, enabled: mayList })
  const { data: permissions = [] } = useQuery({ ...permissionsQuery, enabled: mayList })
  const roles: readonly Choice[] = mayList ? listed : BUILT_IN
  const excessHere = ({ permissions: held }: Choice) => excessOf(held, permissions, me.permissions)
  const excess = new Map(roles.map(role => [role.name, (excessIn ?? excessHere)(role)]))
  return (
    <Select
      label={t('kit.field.role')}
      allowDeselect={false}
      data={roles.filter(offers).map(({ name }) => ({
        value: name,
        label: name,
        disabled: name !== props.value && excess.get(name)!.length > 0,
      }))}
      renderOption={({ option }: { option: ComboboxItem }) => (
        <RoleOption name={option.value} excess={excess.get(option.value) ?? []} />
      )}
      {...props}
    />
  )
}

function RoleOption({ name, excess }: { name: string; excess: readonly string[] }) {
  const { t } = useTranslation()
  const more = excess.length - SHOWN
  return (
    <div>
      {name}
      {excess.length > 0 && (
        <div className={classes.excess}>
          {t('roles.beyondYours', { permissions: excess.slice(0, SHOWN).join(', ') })}
          {more > 0 && ` ${t('roles.more', { count: more })}`}
        </div>
      )}
    </div>
  )
}
