import { Group, Menu, Skeleton, Stack, Tabs } from '@mantine/core'
import { useForm } from '@mantine/form'
import { BlockedIcon, CheckCircleIcon, EyeIcon, ShieldXIcon, TrashIcon } from '@primer/octicons-react'
import type { User as UserRecord } from '@rollcall/sdk'
import { errorTexts } from '@rollcall/sdk/error-texts'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { Impersonate } from '../impersonation/impersonate.tsx'
import { Action, MenuAction } from '../kit/action.tsx'
import { BackLink } from '../kit/back-link.tsx'
import { useAct, useConfirm } from '../kit/confirm.tsx'
import { Copyable } from '../kit/copyable.tsx'
import { Facts } from '../kit/facts.tsx'
import { FormModal, useSubmit } from '../kit/form-modal.tsx'
import type { ListSearch } from '../kit/list-search.ts'
import { MoreMenu } from '../kit/more-menu.tsx'
import { Page } from '../kit/page.tsx'
import { ProblemAlert } from '../kit/problem-alert.tsx'
import { Tag } from '../kit/status-chip.tsx'
import { useChangeSearch } from '../kit/use-list.ts'
import { When } from '../kit/when.tsx'
import { sentence } from '../server/texts.ts'
import { useMe } from '../session.ts'
import { useRankRefusal } from './use-rank-refusal.ts'
import { UserActivity } from './user-activity.tsx'
import { UserEmails } from './user-emails.tsx'
import { UserFeatures } from './user-features.tsx'
import { UserProfile } from './user-profile.tsx'
import { UserDevices, UserSessions } from './user-sessions.tsx'
import { UserWorkspaces } from './user-workspaces.tsx'
import { MemberRoleSelect, SecondFactorAt, UserStatus } from './users.tsx'

/** The roles that may impersonate; no other role can grant it. */
const MAY_IMPERSONATE = ['owner', 'admin']
const TABS = {
  sessions: SessionsTab,
  profile: UserProfile,
  activity: UserActivity,
  workspaces: UserWorkspaces,
  features: UserFeatures,
  emails: UserEmails,
} as const
type Tab = keyof typeof TABS

/** One account: where it is signed in, what it did, what it may do. */
export function User() {
  const { t } = useTranslation()
  const { id } = useParams({ from: '/shell/users/$id' })
  const { tab = 'sessions' } = useSearch({ strict: false }) as ListSearch
  const change = useChangeSearch()
  const [dialog, setDialog] = useState<'role' | 'impersonate'>()
  const close = () => setDialog(undefined)
  const {
    data: user,
    error,
    refetch,
  } = useQuery({
    queryKey: ['users', id],
    queryFn: ({ signal }) => rollcall.users.get(id, { signal }),
  })
  const back = <BackLink to="/users">{t('users.back')}</BackLink>
  if (!user)
    return (
      <Page title={t('users.title')} above={back}>
        {error ? <ProblemAlert error={error} onRetry={refetch} /> : <Skeleton height={200} />}
      </Page>
    )
  return (
    <Page
      title={user.name}
      above={back}
      lead={
        <Group gap="sm">
          <Copyable value={user.email} what={t('kit.field.email')} />
          <UserStatus user={user} />
          <Tag>{user.role}</Tag>
        </Group>
      }
      actions={
        <UserActions user={user} onRole={() => setDialog('role')} onImpersonate={() => setDialog('impersonate')} />
      }
    >
      <UserFacts user={user} />
      <Tabs
        value={tab in TABS ? tab : 'sessions'}
        onChange={value => change({ tab: value === 'sessions' ? undefined : (value ?? undefined) })}
        keepMounted={false}
      >
        <Tabs.List>
          {(Object.keys(TABS) as Tab[]).map(name => (
            <Tabs.Tab key={name} value={name}>
              {t(`users.tabs.${name}`)}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {(Object.entries(TABS) as [Tab, (typeof TABS)[Tab]][]).map(([name, Panel]) => (
          <Tabs.Panel key={name} value={name} pt="lg">
            <Panel user={user} />
          </Tabs.Panel>
        ))}
      </Tabs>
      {dialog === 'role' && <ChangeRole user={user} onClose={close} />}
      {dialog === 'impersonate' && <Impersonate user={user} onClose={close} />}
    </Page>
  )
}

function SessionsTab({ user }: { user: UserRecord }) {
  return (
    <Stack gap="xl">
      <UserSessions user={user} />
      <UserDevices user={user} />
    </Stack>
  )
}

function UserFacts({ user }: { user: UserRecord }) {
  const { t } = useTranslation()
  return (
    <Facts
      facts={{
        [t('users.lastLogin')]: <When at={user.lastLoginAt} />,
        [t('kit.field.created')]: <When at={user.createdAt} />,
        [t('users.secondFactor')]: <SecondFactorAt user={user} />,
        [t('users.blockedAt')]: user.blockedAt ? <When at={user.blockedAt} /> : undefined,
        [t('shell.language')]: user.language ?? undefined,
        [t('account.profile.timezone')]: user.timezone ?? undefined,
        [t('kit.field.id')]: <Copyable value={user._id} what={t('kit.field.id')} mono />,
      }}
    />
  )
}

function ChangeRole({ user: { _id, name, role }, onClose }: { user: UserRecord; onClose: () => void }) {
  const { t } = useTranslation()
  const form = useForm({ initialValues: { role } })
  const submit = useSubmit(form, {
    send: values => rollcall.users.changeRole(_id, values),
    done: t('users.changed', { name }),
    onDone: onClose,
  })
  return (
    <FormModal
      title={t('users.changeRole')}
      form={form}
      submit={submit}
      action={t('users.changeRole')}
      onClose={onClose}
    >
      <MemberRoleSelect {...form.getInputProps('role')} />
    </FormModal>
  )
}

function UserActions({
  user,
  onRole,
  onImpersonate,
}: {
  user: UserRecord
  onRole: () => void
  onImpersonate: () => void
}) {
  const { t } = useTranslation()
  const me = useMe()
  const act = useAct()
  const confirm = useConfirm()
  const navigate = useNavigate()
  const { _id, name, blocked, role, secondFactorAt } = user
  const isSelf = _id === me.user._id
  const isHigher = useRankRefusal(user)
  const unlessOther = isSelf ? sentence(errorTexts['account.own']) : isHigher
  const mayImpersonate = MAY_IMPERSONATE.includes(me.role) && !(me.role === 'admin' && role === 'owner')
  return (
    <>
      {mayImpersonate && !isSelf && !blocked && (
        <Action call="authentication.impersonate" variant="default" leftSection={<EyeIcon />} onClick={onImpersonate}>
          {t('impersonation.action')}
        </Action>
      )}
      <Action call="users.changeRole" variant="default" unless={isHigher} onClick={onRole}>
        {t('users.changeRole')}
      </Action>
      <MoreMenu name={name} variant="default">
        {blocked ? (
          <MenuAction
            call="users.unblock"
            unless={isHigher}
            icon={<CheckCircleIcon />}
            onClick={() => void act({ run: () => rollcall.users.unblock(_id), done: t('users.unblocked', { name }) })}
          >
            {t('users.unblock')}
          </MenuAction>
        ) : (
          <MenuAction
            call="users.block"
            unless={unlessOther}
            icon={<BlockedIcon />}
            onClick={() =>
              confirm({
                title: t('users.blockTitle', { name }),
                text: t('users.blockText'),
                action: t('users.block'),
                run: () => rollcall.users.block(_id),
                done: t('users.blocked', { name }),
              })
            }
          >
            {t('users.block')}
          </MenuAction>
        )}
        {secondFactorAt && !isSelf && (
          <MenuAction
            call="users.resetTotp"
            unless={isHigher}
            icon={<ShieldXIcon />}
            onClick={() =>
              confirm({
                title: t('users.resetTotpTitle', { name }),
                text: t('users.resetTotpText', { name }),
                action: t('users.resetTotp'),
                run: () => rollcall.users.resetTotp(_id),
                done: t('users.resetTotpDone', { name }),
              })
            }
          >
            {t('users.resetTotp')}
          </MenuAction>
        )}
        <Menu.Divider />
        <MenuAction
          call="users.delete"
          unless={unlessOther}
          danger
          icon={<TrashIcon />}
          onClick={() =>
            confirm({
              title: t('users.deleteTitle', { name }),
              text: t('users.deleteText'),
              action: t('users.delete'),
              typed: name,
              run: () => rollcall.users.delete(_id),
              done: t('users.deleted', { name }),
              onDone: () => void navigate({ to: '/users', ignoreBlocker: true }),
            })
          }
        >
          {t('users.delete')}
        </MenuAction>
      </MoreMenu>
    </>
  )
}
