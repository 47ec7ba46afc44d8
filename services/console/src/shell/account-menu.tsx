import { Menu, Text, UnstyledButton } from '@mantine/core'
import { PersonIcon, SignOutIcon } from '@primer/octicons-react'
import { Link } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { useTranslation } from 'react-i18next'
import { useMayLose } from '../kit/use-unsaved.tsx'
import { useMe } from '../session.ts'
import classes from './shell.module.css'
import { useSignOut } from './use-sign-out.ts'

const Appearance = lazy(async () => ({ default: (await import('./appearance.tsx')).Appearance }))

/** The signed-in person: appearance, language, signing out. */
export function AccountMenu() {
  const { t } = useTranslation()
  const { user } = useMe()
  const mayLose = useMayLose()
  const signOut = useSignOut()
  const askToSignOut = async () => {
    if (await mayLose()) signOut.mutate()
  }
  return (
    <Menu position="bottom-end" width={248} withinPortal>
      <Menu.Target>
        <UnstyledButton className={classes.account}>
          <span className="rc-hidden">{t('shell.accountMenu', { name: user.name })}</span>
          <span className={classes.initials} aria-hidden>
            {initialsOf(user.name)}
          </span>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          <Text size="sm" fw={600} c="var(--mantine-color-text)" truncate>
            {user.name}
          </Text>
          <Text size="xs" truncate>
            {user.email}
          </Text>
        </Menu.Label>
        <Menu.Divider />
        <Menu.Item component={Link} to="/account" leftSection={<PersonIcon />}>
          {t('shell.areas.account')}
        </Menu.Item>
        <Menu.Divider />
        <Suspense>
          <Appearance />
        </Suspense>
        <Menu.Divider />
        <Menu.Item leftSection={<SignOutIcon />} onClick={() => void askToSignOut()}>
          {t('shell.signOut')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

/** Returns the first letters of the first and the last name. */
function initialsOf(name: string): string {
  const words = name.trim().split(/\s+/)
  const ends = words.length > 1 ? [words[0], words.at(-1)] : [name.slice(0, 1)]
  return ends.map(word => word?.slice(0, 1).toUpperCase()).join('')
}
