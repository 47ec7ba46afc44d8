import { Group, Skeleton, Table, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { MailIcon, TrashIcon } from '@primer/octicons-react'
import type { Invitation, Member, Workspace as WorkspaceRecord } from '@rollcall/sdk'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { Action, MenuAction } from '../kit/action.tsx'
import { BackLink } from '../kit/back-link.tsx'
import { useAct, useConfirm } from '../kit/confirm.tsx'
import { FormModal, fieldProps, useSubmit } from '../kit/form-modal.tsx'
import { MoreMenu } from '../kit/more-menu.tsx'
import { Page } from '../kit/page.tsx'
import { ProblemAlert } from '../kit/problem-alert.tsx'
import { StatusChip, type Tone } from '../kit/status-chip.tsx'
import { When } from '../kit/when.tsx'
import classes from '../roles/role.module.css'
import { RoleSelect } from '../users/users.tsx'

const ALL = 1000
const TONES: Record<Invitation['status'], Tone> = {
  pending: 'info',
  accepted: 'good',
  declined: 'neutral',
  expired: 'warn',
}

/** One workspace: its members and invitations. */
export function Workspace() {
  const { t } = useTranslation()
  const { id } = useParams({ from: '/shell/workspaces/$id' })
  const [isInviting, setInviting] = useState(false)
  const {
    data: workspace,
    error,
    refetch,
  } = useQuery({
    queryKey: ['workspaces', id],
    queryFn: ({ signal }) => rollcall.workspaces.get(id, { signal }),
  })
  const back = <BackLink to="/workspaces">{t('workspaces.back')}</BackLink>
  if (!workspace)
    return (
      <Page title={t('workspaces.title')} above={back}>
        {error ? <ProblemAlert error={error} onRetry={refetch} /> : <Skeleton height={200} />}
      </Page>
    )
  return (
    <Page
      title={workspace.name}
      above={back}
      lead={`${t('workspaces.seats')}: ${workspace.seats ?? t('workspaces.unlimited')}`}
      actions={
        <>
          <Action call="invitations.create" leftSection={<MailIcon />} onClick={() => setInviting(true)}>
            {t('workspaces.invite')}
          </Action>
          <WorkspaceMenu workspace={workspace} />
        </>
      }
    >
      <Members id={id} />
      <Invitations id={id} />
      {isInviting && <Invite workspace={workspace} onClose={() => setInviting(false)} />}
    </Page>
  )
}

function WorkspaceMenu({ workspace: { _id, name } }: { workspace: WorkspaceRecord }) {
  const { t } = useTranslation()
  const confirm = useConfirm()
  const navigate = useNavigate()
  return (
    <MoreMenu name={name} variant="default">
      <MenuAction
        call="workspaces.delete"
        danger
        icon={<TrashIcon />}
        onClick={() =>
          confirm({
            title: t('workspaces.deleteTitle', { name }),
            text: t('workspaces.deleteText'),
            action: t('workspaces.delete'),
            run: () => rollcall.workspaces.delete(_id),
            done: t('workspaces.deleted', { name }),
            onDone: () => void navigate({ to: '/workspaces' }),
          })
        }
      >
        {t('workspaces.delete')}
      </MenuAction>
    </MoreMenu>
  )
}

/** A member whose account was asked for as well. */
type Account = { _id: string; name: string; email: string }

function Members({ id }: { id: string }) {
  const { t } = useTranslation()
  const { data, error } = useQuery({
    queryKey: ['workspaces', id, 'members'],
    queryFn: async ({ signal }) => await rollcall.members.list(id, { limit: ALL, populate: 'user' }, { signal }),
  })
  if (error) return <ProblemAlert error={error} />
  return (
    <section>
      <h2 className={classes.heading}>{t('workspaces.members')}</h2>
      {!data ? (
        <Skeleton height={120} mt="xs" />
      ) : (
        <Table.ScrollContainer minWidth={420} type="native" className={classes.matrix} mt="xs">
          <Table aria-label={t('workspaces.members')}>
            <Table.Tbody>
              {data.docs.map(member => (
                <MemberRow key={member._id} workspace={id} member={member} />
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
    </section>
  )
}

function MemberRow({ workspace, member: { _id, user, role, joinedAt } }: { workspace: string; member: Member }) {
  const { t } = useTranslation()
  const confirm = useConfirm()
  const account = user as unknown as Account | null
  const name = account?.name ?? t('workspaces.noAccount')
  return (
    <Table.Tr>
      <Table.Td>
        <strong>{name}</strong>{' '}
        <Text span c="dimmed" size="sm">
          {account?.email}
        </Text>
      </Table.Td>
      <Table.Td>{role}</Table.Td>
      <Table.Td>
        <When at={joinedAt} />
      </Table.Td>
      <Table.Td ta="right" w={60}>
        <MoreMenu name={name}>
          <MenuAction
            call="members.remove"
            danger
            onClick={() =>
              confirm({
                title: t('workspaces.removeTitle', { name }),
                text: t('workspaces.removeText'),
                action: t('workspaces.remove'),
                run: () => rollcall.members.remove(workspace, _id),
                done: t('workspaces.removed', { name }),
              })
            }
          >
            {t('workspaces.remove')}
          </MenuAction>
        </MoreMenu>
      </Table.Td>
    </Table.Tr>
  )
}

function Invitations({ id }: { id: string }) {
  const { t } = useTranslation()
  const act = useAct()
  const { data, error } = useQuery({
    queryKey: ['workspaces', id, 'invitations'],
    queryFn: async ({ signal }) => await rollcall.invitations.list(id, { limit: ALL }, { signal }),
  })
  if (error) return <ProblemAlert error={error} />
  return (
    <section>
      <h2 className={classes.heading}>{t('workspaces.invitations')}</h2>
      {data?.docs.length === 0 && (
        <Text c="dimmed" mt="xs">
          {t('workspaces.noInvitations')}
        </Text>
      )}
      {data && data.docs.length > 0 && (
        <Table.ScrollContainer minWidth={420} type="native" className={classes.matrix} mt="xs">
          <Table aria-label={t('workspaces.invitations')}>
            <Table.Tbody>
              {data.docs.map(({ _id, email, role, status, expiresAt }) => (
                <Table.Tr key={_id}>
                  <Table.Td>
                    <strong>{email}</strong>
                  </Table.Td>
                  <Table.Td>{role}</Table.Td>
                  <Table.Td>
                    <Group gap="xs">
                      <StatusChip tone={TONES[status]}>{t(`workspaces.status.${status}`)}</StatusChip>
                    </Group>
                  </Table.Td>
                  <Table.Td>
                    <When at={expiresAt} />
                  </Table.Td>
                  <Table.Td ta="right" w={60}>
                    {status === 'pending' && (
                      <MoreMenu name={email}>
                        <MenuAction
                          call="invitations.revoke"
                          danger
                          onClick={() =>
                            void act({
                              run: () => rollcall.invitations.revoke(id, _id),
                              done: t('workspaces.revoked', { email }),
                            })
                          }
                        >
                          {t('workspaces.revoke')}
                        </MenuAction>
                      </MoreMenu>
                    )}
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
    </section>
  )
}

function Invite({ workspace: { _id, name }, onClose }: { workspace: WorkspaceRecord; onClose: () => void }) {
  const { t } = useTranslation()
  const form = useForm({ initialValues: { email: '', role: 'user' } })
  const submit = useSubmit(form, {
    send: values => rollcall.invitations.create(_id, values),
    done: t('workspaces.invited', { email: form.values.email }),
    onDone: onClose,
  })
  return (
    <FormModal
      title={t('workspaces.inviteTitle', { name })}
      form={form}
      submit={submit}
      action={t('workspaces.invite')}
      onClose={onClose}
    >
      <TextInput
        label={t('kit.field.email')}
        type="email"
        autoComplete="off"
        data-autofocus
        {...fieldProps('invitations.create', 'email')}
        {...form.getInputProps('email')}
      />
      <RoleSelect {...form.getInputProps('role')} />
    </FormModal>
  )
}
