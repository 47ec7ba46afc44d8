import { AppShell, Burger, Group, ScrollArea } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { Link, Outlet, useRouterState } from '@tanstack/react-router'
import { lazy, Suspense, useEffect } from 'react'
import { useTranslation } from 'react-i18next'
import { useMe, useMissing } from '../session.ts'
import { AccountMenu } from './account-menu.tsx'
import mark from './mark.svg'
import { type Area, NAVIGATION } from './navigation.ts'
import classes from './shell.module.css'

const SecondFactorNeeded = lazy(async () => ({
  default: (await import('./second-factor-needed.tsx')).SecondFactorNeeded,
}))

/** Everything for people who are signed in, once they have the second factor that their organization may require. */
export function Shell() {
  const { mfa, impersonatedBy } = useMe()
  if (!mfa.required || mfa.totp || impersonatedBy) return <Surroundings />
  return (
    <Suspense>
      <SecondFactorNeeded />
    </Suspense>
  )
}

/** What surrounds every screen: navigation, header, content. */
function Surroundings() {
  const { t } = useTranslation()
  const [isOpen, menu] = useDisclosure()
  const path = useRouterState({ select: state => state.location.pathname })
  useEffect(menu.close, [path])
  return (
    <AppShell
      layout="alt"
      header={{ height: 52 }}
      navbar={{ width: 232, breakpoint: 'sm', collapsed: { mobile: !isOpen } }}
      padding={0}
    >
      <a href="#main" className="rc-skip">
        {t('shell.skip')}
      </a>
      <AppShell.Header className={classes.header}>
        <Burger
          opened={isOpen}
          onClick={menu.toggle}
          size="sm"
          hiddenFrom="sm"
          aria-label={t('shell.menu')}
          aria-expanded={isOpen}
        />
        <Group ml="auto" gap="xs">
          <AccountMenu />
        </Group>
      </AppShell.Header>
      <AppShell.Navbar className={classes.navbar} aria-label={t('shell.mainNavigation')}>
        <Navigation onClose={menu.close} isOpen={isOpen} />
      </AppShell.Navbar>
      <AppShell.Main id="main" className={classes.main}>
        <Outlet />
      </AppShell.Main>
    </AppShell>
  )
}

function Navigation({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const { t } = useTranslation()
  const me = useMe()
  const missing = useMissing()
  const mayOpen = ({ call }: Area) => !call || !missing(call)
  return (
    <>
      <div className={classes.product}>
        <img src={mark} alt="" width={22} height={22} />
        <span className={classes.organization}>{me.organization.name}</span>
        {isOpen && (
          <Burger opened size="sm" hiddenFrom="sm" ml="auto" onClick={onClose} aria-label={t('shell.closeMenu')} />
        )}
      </div>
      <ScrollArea className={classes.scroll} type="never">
        <div>
          {NAVIGATION.map(({ group, areas }) => {
            const open = areas.filter(mayOpen)
            if (open.length === 0) return null
            return (
              <section key={group ?? 'top'} className={classes.group} aria-label={group && t(`shell.groups.${group}`)}>
                {group && <div className={classes.groupName}>{t(`shell.groups.${group}`)}</div>}
                {open.map(({ name, to, icon: Icon }) => (
                  <Link
                    key={name}
                    to={to}
                    className={classes.link}
                    activeOptions={{ exact: to === '/' }}
                    activeProps={{ 'data-active': true, 'aria-current': 'page' }}
                  >
                    <Icon size={16} />
                    <span>{t(`shell.areas.${name}`)}</span>
                  </Link>
                ))}
              </section>
            )
          })}
        </div>
      </ScrollArea>
    </>
  )
}
