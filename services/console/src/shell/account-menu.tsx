import { Avatar, Menu, SegmentedControl, Text, UnstyledButton } from '@mantine/core'
import { PersonIcon, SignOutIcon } from '@primer/octicons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { chooseLanguage, LANGUAGES, type Language } from '../i18n/index.ts'
import { setImpersonation } from '../impersonation/store.ts'
import { useMe } from '../session.ts'
import { SchemeChoice } from './scheme-choice.tsx'
import classes from './shell.module.css'

/** The signed-in person: appearance, language, signing out. */
export function AccountMenu() {
  const { t, i18n } = useTranslation()
  const { user } = useMe()
  const navigate = useNavigate()
  const client = useQueryClient()
  const signOut = useMutation({
    mutationFn: () => {
      setImpersonation(undefined) // ends with the session that began it
      return rollcall.authentication.logout()
    },
    onSuccess: async () => {
      await navigate({ to: '/sign-in' })
      client.clear()
    },
  })
  return (
    <Menu position="bottom-end" width={248} withinPortal>
      <Menu.Target>
        <UnstyledButton className={classes.account}>
          <span className="rc-hidden">{t('shell.accountMenu', { name: user.name })}</span>
          <Avatar name={user.name} color="indigo" size={30} radius="xl" />
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
        <Menu.Label>{t('shell.scheme.title')}</Menu.Label>
        <SchemeChoice fullWidth size="xs" mx={8} mb={6} />
        <Menu.Label>{t('shell.language')}</Menu.Label>
        <SegmentedControl
          fullWidth
          size="xs"
          mx={8}
          mb={6}
          aria-label={t('shell.language')}
          value={i18n.language}
          onChange={language => chooseLanguage(language as Language)}
          data={Object.entries(LANGUAGES).map(([value, label]) => ({ value, label }))}
        />
        <Menu.Divider />
        <Menu.Item leftSection={<SignOutIcon />} onClick={() => signOut.mutate()}>
          {t('shell.signOut')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
