import { ActionIcon, AppShell, Burger, Group, ScrollArea, Tooltip, UnstyledButton } from '@mantine/core'
import { useDisclosure, useHotkeys } from '@mantine/hooks'
import { QuestionIcon, SearchIcon } from '@primer/octicons-react'
import { Link, Outlet, useRouterState } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useImpersonation } from '../impersonation/store.ts'
import { useIsSessionOver, useMe, useMissing } from '../session.ts'
import { AccountMenu } from './account-menu.tsx'
import mark from './mark.svg'
import { mayOpen, NAVIGATION } from './navigation.ts'
import { PaletteKeys } from './palette-keys.tsx'
import classes from './shell.module.css'

const loadSignIn = () => import('../sign-in/sign-in-again.tsx')
const SignInAgain = lazy(async () => ({ default: (await loadSignIn()).SignInAgain }))
const SecondFactorNeeded = lazy(async () => ({
  default: (await import('./second-factor-needed.tsx')).SecondFactorNeeded,
}))
const Palette = lazy(async () => ({ default: (await import('./palette.tsx')).Palette }))
const ImpersonationBanner = lazy(async () => ({
  default: (await import('../impersonation/banner.tsx')).ImpersonationBanner,
}))
const RightsChanged = lazy(async () => ({ default: (await import('./rights-changed.tsx')).RightsChanged }))
const Unavailable = lazy(async () => ({ default: (await import('./unavailable.tsx')).Unavailable }))
const TaskTray = lazy(async () => ({ default: (await import('./task-tray.tsx')).TaskTray }))
const Shortcuts = lazy(async () => ({ default: (await import('./shortcuts.tsx')).Shortcuts }))

/** Everything for people who are signed in, once they have the second factor that their organization may require. */
export function Shell() {
  const isSessionOver = useIsSessionOver()
  useEffect(() => {
    loadSignIn().catch(() => {}) // now: at the end of a session, a newer release may have replaced the file
  }, [])
  return (
    <>
      <Screens />
      <Suspense>{isSessionOver && <SignInAgain />}</Suspense>
    </>
  )
}

function Screens() {
  const { user, mfa, impersonatedBy } = useMe()
  const impersonation = useImpersonation()
  const [confirming, setConfirming] = useState<string>() // the person whose recovery codes are not stored yet
  const isNeeded = mfa.required && !mfa.totp && !impersonatedBy
  if (!isNeeded && confirming !== user._id) return <Surroundings key={`${user._id} ${impersonation?.sessionRef}`} />
  return (
    <Suspense key={user._id}>
      <SecondFactorNeeded onConfirm={() => setConfirming(user._id)} onDone={() => setConfirming(undefined)} />
    </Suspense>
  )
}

/** What surrounds every screen: navigation, header, content. Another person or an impersonation begins with a new one. */
function Surroundings() {
  const { t } = useTranslation()
  const missing = useMissing()
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
        <Finder />
        <Group ml="auto" gap={4} wrap="nowrap">
          {!(missing('imports.listJobs') && missing('bulk.listJobs')) && (
            <Suspense>
              <TaskTray />
            </Suspense>
          )}
          <Help />
          <AccountMenu />
        </Group>
      </AppShell.Header>
      <AppShell.Navbar className={classes.navbar} aria-label={t('shell.mainNavigation')}>
        <Navigation onClose={menu.close} isOpen={isOpen} />
      </AppShell.Navbar>
      <AppShell.Main id="main" className={classes.main}>
        <Suspense>
          <ImpersonationBanner />
          <RightsChanged />
          <Unavailable />
        </Suspense>
        <Outlet />
      </AppShell.Main>
    </AppShell>
  )
}

/** Opens the palette: a button that looks like a search field, or Ctrl-K. */
function Finder() {
  const { t } = useTranslation()
  const [isOpen, { open, close, toggle }] = useDisclosure()
  useHotkeys([['mod+K', toggle]], [])
  return (
    <>
      <UnstyledButton className={classes.finder} onClick={open}>
        <SearchIcon size={14} />
        <span className={classes.finderText}>{t('shell.palette.open')}</span>
        <PaletteKeys />
      </UnstyledButton>
      {isOpen && (
        <Suspense>
          <Palette onClose={close} />
        </Suspense>
      )}
    </>
  )
}

/** Shows the keys that the console knows: a button, or `?`. */
function Help() {
  const { t } = useTranslation()
  const [isOpen, setOpen] = useState(false)
  const open = () => setOpen(true)
  // With and without Shift, as keyboards differ.
  useHotkeys([
    ['shift+?', open],
    ['?', open],
  ])
  return (
    <>
      <Tooltip label={t('shell.help')}>
        <ActionIcon
          variant="subtle"
          color="gray"
          size={32}
          visibleFrom="sm"
          aria-label={t('shell.help')}
          onClick={open}
        >
          <QuestionIcon />
        </ActionIcon>
      </Tooltip>
      {isOpen && (
        <Suspense>
          <Shortcuts onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  )
}

function Navigation({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const { t } = useTranslation()
  const me = useMe()
  const missing = useMissing()
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
            const open = areas.filter(area => mayOpen(area, missing))
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
