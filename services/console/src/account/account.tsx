import { Alert, Group, Text } from '@mantine/core'
import { type ReactNode, useId } from 'react'
import { useTranslation } from 'react-i18next'
import { useRefusal } from '../kit/action.tsx'
import { Copyable } from '../kit/copyable.tsx'
import { Page } from '../kit/page.tsx'
import { Tag } from '../kit/status-chip.tsx'
import { useMe } from '../session.ts'
import { SchemeChoice } from '../shell/scheme-choice.tsx'
import classes from './account.module.css'
import { ChangeEmail } from './change-email.tsx'
import { ChangePassword } from './change-password.tsx'
import { Devices } from './devices.tsx'
import { EndOthers, Sessions } from './own-sessions.tsx'
import { Profile } from './profile.tsx'
import { SecondFactor } from './second-factor.tsx'

/** The own account: profile, password, second factor, email address, where it is signed in, appearance. */
export function Account() {
  const { t } = useTranslation()
  const { user, role } = useMe()
  const refusal = useRefusal()('account.update')
  return (
    <Page
      narrow
      title={t('shell.areas.account')}
      lead={
        <Group gap="sm">
          <Copyable value={user.email} what={t('kit.field.email')} />
          <Tag>{role}</Tag>
        </Group>
      }
    >
      {refusal && <Alert color="yellow">{refusal}</Alert>}
      <Section title={t('account.profile.title')}>
        <Profile />
      </Section>
      <Section title={t('account.password.title')} lead={t('account.password.lead')}>
        <ChangePassword />
      </Section>
      <Section title={t('account.secondFactor.title')} lead={t('account.secondFactor.lead')}>
        <SecondFactor />
      </Section>
      <Section title={t('account.email.title')} lead={t('account.email.lead')}>
        <ChangeEmail />
      </Section>
      <Section title={t('users.sessions')} lead={t('account.sessions.lead')} action={<EndOthers />}>
        <Sessions />
      </Section>
      <Section title={t('users.devices')} lead={t('account.devices.lead')}>
        <Devices />
      </Section>
      <Section title={t('shell.scheme.title')} lead={t('account.scheme.lead')}>
        <div className={classes.form}>
          <SchemeChoice fullWidth />
        </div>
      </Section>
    </Page>
  )
}

function Section({
  title,
  lead,
  action,
  children,
}: {
  title: string
  lead?: string
  action?: ReactNode
  children: ReactNode
}) {
  const id = useId()
  return (
    <section className={classes.section} aria-labelledby={id}>
      <div className={classes.head}>
        <div>
          <h2 id={id} className={classes.heading}>
            {title}
          </h2>
          {lead && <Text c="dimmed">{lead}</Text>}
        </div>
        {action}
      </div>
      {children}
    </section>
  )
}
