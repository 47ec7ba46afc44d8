import { Group, Menu, Skeleton, Table, Tabs, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { BlockedIcon, CheckCircleIcon, TrashIcon } from '@primer/octicons-react'
import type { User as UserRecord } from '@rollcall/sdk'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { Action, MenuAction } from '../kit/action.tsx'
import { BackLink } from '../kit/back-link.tsx'
import { useAct, useConfirm } from '../kit/confirm.tsx'
import { Copyable } from '../kit/copyable.tsx'
import { FormModal, useSubmit } from '../kit/form-modal.tsx'
import type { ListSearch } from '../kit/list-search.ts'
import { MoreMenu } from '../kit/more-menu.tsx'
import { Page } from '../kit/page.tsx'
import { ProblemAlert } from '../kit/problem-alert.tsx'
import { Tag } from '../kit/status-chip.tsx'
import { useChangeSearch } from '../kit/use-list.ts'
import { When } from '../kit/when.tsx'
import classes from '../roles/role.module.css'
import { SessionTable } from './session-table.tsx'
import { RoleSelect, UserStatus } from './users.tsx'

const ENTRIES = 50

/** One account: sessions, activity, role. */
export function User() {
  const { t } = useTranslation()
  const { id } = useParams({ from: '/shell/users/$id' })
  const { tab = 'sessions' } = useSearch({ strict: false }) as ListSearch
  const change = useChangeSearch()
  const [isChanging, setChanging] = useState(false)
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
        <>
          <Action call="users.changeRole" variant="default" onClick={() => setChanging(true)}>
            {t('users.changeRole')}
          </Action>
          <UserMenu user={user} />
        </>
      }
    >
      <Tabs value={tab} onChange={value => change({ tab: value ?? undefined })} keepMounted={false}>
        <Tabs.List>
          <Tabs.Tab value="sessions">{t('users.sessions')}</Tabs.Tab>
          <Tabs.Tab value="activity">{t('users.activity')}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="sessions" pt="md">
          <Sessions id={id} />
        </Tabs.Panel>
        <Tabs.Panel value="activity" pt="md">
          <Activity id={id} />
        </Tabs.Panel>
      </Tabs>
      {isChanging && <ChangeRole user={user} onClose={() => setChanging(false)} />}
    </Page>
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
      <RoleSelect {...form.getInputProps('role')} />
    </FormModal>
  )
}

function UserMenu({ user: { _id, name, blocked } }: { user: UserRecord }) {
  const { t } = useTranslation()
  const act = useAct()
  const confirm = useConfirm()
  const navigate = useNavigate()
  return (
    <MoreMenu name={name} variant="default">
      {blocked ? (
        <MenuAction
          call="users.unblock"
          icon={<CheckCircleIcon />}
          onClick={() => void act({ run: () => rollcall.users.unblock(_id), done: t('users.unblocked', { name }) })}
        >
          {t('users.unblock')}
        </MenuAction>
      ) : (
        <MenuAction
          call="users.block"
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
      <Menu.Divider />
      <MenuAction
        call="users.delete"
        danger
        icon={<TrashIcon />}
        onClick={() =>
          confirm({
            title: t('users.deleteTitle', { name }),
            text: t('users.deleteText'),
            action: t('users.delete'),
            run: () => rollcall.users.delete(_id),
            done: t('users.deleted', { name }),
            onDone: () => void navigate({ to: '/users' }),
          })
        }
      >
        {t('users.delete')}
      </MenuAction>
    </MoreMenu>
  )
}

function Sessions({ id }: { id: string }) {
  const { t } = useTranslation()
  const act = useAct()
  const { data, error } = useQuery({
    queryKey: ['users', id, 'sessions'],
    queryFn: async ({ signal }) => await rollcall.users.listSessions(id, { limit: ENTRIES }, { signal }),
  })
  if (error) return <ProblemAlert error={error} />
  if (!data) return <Skeleton height={120} />
  if (data.docs.length === 0) return <Text c="dimmed">{t('users.noSessions')}</Text>
  return (
    <SessionTable
      sessions={data.docs}
      call="users.revokeSession"
      onEnd={sessionRef =>
        void act({ run: () => rollcall.users.revokeSession(id, sessionRef), done: t('users.ended') })
      }
    />
  )
}

function Activity({ id }: { id: string }) {
  const { t } = useTranslation()
  const { data, error } = useQuery({
    queryKey: ['users', id, 'activities'],
    queryFn: async ({ signal }) => await rollcall.users.listActivities(id, { limit: ENTRIES }, { signal }),
  })
  if (error) return <ProblemAlert error={error} />
  if (!data) return <Skeleton height={120} />
  return (
    <Table.ScrollContainer minWidth={420} type="native" className={classes.matrix}>
      <Table aria-label={t('users.activity')}>
        <Table.Tbody>
          {data.docs.map(({ _id, type, at, actor }) => (
            <Table.Tr key={_id}>
              <Table.Td>{t('users.by', { type, name: actor.name })}</Table.Td>
              <Table.Td ta="right">
                <When at={at} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}
