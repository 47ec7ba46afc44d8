import { Button, Group, Modal, NumberInput, Progress, Skeleton, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { MailIcon, TrashIcon } from '@primer/octicons-react'
import type {
  CreatedInvitation,
  Invitation,
  Member,
  Page as RecordPage,
  Role,
  Workspace as WorkspaceRecord,
} from '@rollcall/sdk'
import { errorTexts } from '@rollcall/sdk/error-texts'
import { queryOptions, type UseQueryResult, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { Action, MenuAction } from '../kit/action.tsx'
import { BackLink } from '../kit/back-link.tsx'
import { useAct, useConfirm } from '../kit/confirm.tsx'
import { Copyable } from '../kit/copyable.tsx'
import { FormModal, fieldProps, useSubmit } from '../kit/form-modal.tsx'
import { MoreMenu } from '../kit/more-menu.tsx'
import { Page } from '../kit/page.tsx'
import { PlainTable } from '../kit/plain-table.tsx'
import { ProblemAlert } from '../kit/problem-alert.tsx'
import { useShownOnce } from '../kit/secret-once.tsx'
import { Section } from '../kit/section.tsx'
import { StatusChip, type Tone } from '../kit/status-chip.tsx'
import { When } from '../kit/when.tsx'
import type { Action as RoleAction } from '../roles/matrix.ts'
import { rolesQuery } from '../roles/queries.ts'
import { sentence } from '../server/texts.ts'
import { useMe, useMissing } from '../session.ts'
import { MemberRoleSelect } from '../users/users.tsx'
import { actionsOf, rightsIn } from './rights.ts'

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
  const [dialog, setDialog] = useState<'invite' | 'edit'>()
  const [link, setLink] = useState<CreatedInvitation>()
  const {
    data: workspace,
    error,
    refetch,
  } = useQuery({
    queryKey: ['workspaces', id],
    queryFn: ({ signal }) => rollcall.workspaces.get(id, { signal }),
  })
  const invitations = useQuery({
    queryKey: ['workspaces', id, 'invitations'],
    queryFn: async ({ signal }) => await rollcall.invitations.list(id, { limit: ALL }, { signal }),
  })
  const { refusalOf } = useRights(id)
  const back = <BackLink to="/workspaces">{t('workspaces.back')}</BackLink>
  if (!workspace)
    return (
      <Page title={t('workspaces.title')} above={back}>
        {error ? <ProblemAlert error={error} onRetry={refetch} /> : <Skeleton height={200} />}
      </Page>
    )
  const pending = invitations.data?.docs.filter(({ status }) => status === 'pending').length ?? 0
  return (
    <Page
      title={workspace.name}
      above={back}
      lead={<Seats workspace={workspace} pending={pending} />}
      actions={
        <>
          <Action
            call="workspaces.update"
            unless={refusalOf('update')}
            variant="default"
            onClick={() => setDialog('edit')}
          >
            {t('kit.edit')}
          </Action>
          <Action
            call="invitations.create"
            unless={refusalOf('create')}
            leftSection={<MailIcon />}
            onClick={() => setDialog('invite')}
          >
            {t('workspaces.invite')}
          </Action>
          <WorkspaceMenu workspace={workspace} unless={refusalOf('delete')} />
        </>
      }
    >
      <Members id={id} />
      <Invitations id={id} query={invitations} onInvited={setLink} />
      {dialog === 'edit' && <EditWorkspace workspace={workspace} onClose={() => setDialog(undefined)} />}
      {dialog === 'invite' && (
        <Invite
          workspace={workspace}
          onClose={() => setDialog(undefined)}
          onInvited={invitation => {
            setDialog(undefined)
            setLink(invitation)
          }}
        />
      )}
      {link && <InvitationLink invitation={link} onClose={() => setLink(undefined)} />}
    </Page>
  )
}

/** The members of a workspace, with their accounts. */
function membersQuery(id: string) {
  return queryOptions({
    queryKey: ['workspaces', id, 'members'],
    queryFn: async ({ signal }) => await rollcall.members.list(id, { limit: ALL, populate: 'user' }, { signal }),
  })
}

/** Returns what the person may do in a workspace. Their role in it decides, not their permissions. */
function useRights(id: string) {
  const { t } = useTranslation()
  const me = useMe()
  const missing = useMissing()
  const { data: members } = useQuery(membersQuery(id))
  const { data: roles = [] } = useQuery({ ...rolesQuery, enabled: !missing('roles.list') })
  const own = members?.docs.find(member => accountOf(member)?._id === me.user._id)
  const { role, actions, isOwner } = rightsIn(me, own?.role, roles)
  return {
    /** Returns why an action is not open to the person, undefined if it is. */
    refusalOf: (action: RoleAction) => (actions.includes(action) ? undefined : t('workspaces.refused', { role })),
    /** The same for a change of a member. */
    refusalFor: (member: Member) =>
      member.role === 'owner' && !isOwner ? sentence(errorTexts['member.owner_protected']) : undefined,
    /** Returns what a role has beyond the person's own. */
    excessOf: (given: Pick<Role, 'name' | 'permissions'>) => {
      if (given.name === 'owner' && !isOwner) return ['owner']
      return actionsOf(given)
        .filter(action => !actions.includes(action))
        .map(action => `workspaces.${action}`)
    },
  }
}

/** How many seats are taken, by members and pending invitations. */
function Seats({ workspace: { seats, memberCount }, pending }: { workspace: WorkspaceRecord; pending: number }) {
  const { t } = useTranslation()
  const taken = memberCount + pending
  if (seats === null) return t('workspaces.taken', { count: taken })
  return (
    <Group gap="sm">
      <span>{t('workspaces.takenOf', { taken, seats })}</span>
      <Progress
        value={Math.min(100, (100 * taken) / seats)}
        color={taken >= seats ? 'orange' : 'indigo'}
        size="sm"
        w={120}
        aria-label={t('workspaces.seats')}
      />
    </Group>
  )
}

function WorkspaceMenu({
  workspace: { _id, name },
  unless,
}: {
  workspace: WorkspaceRecord
  unless: string | undefined
}) {
  const { t } = useTranslation()
  const confirm = useConfirm()
  const navigate = useNavigate()
  return (
    <MoreMenu name={name} variant="default">
      <MenuAction
        call="workspaces.delete"
        unless={unless}
        danger
        icon={<TrashIcon />}
        onClick={() =>
          confirm({
            title: t('workspaces.deleteTitle', { name }),
            text: t('workspaces.deleteText'),
            action: t('workspaces.delete'),
            typed: name,
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

function EditWorkspace({
  workspace: { _id, name, seats },
  onClose,
}: {
  workspace: WorkspaceRecord
  onClose: () => void
}) {
  const { t } = useTranslation()
  const form = useForm({ initialValues: { name, seats: (seats ?? '') as number | string } })
  const submit = useSubmit(form, {
    send: values =>
      rollcall.workspaces.update(_id, { ...values, seats: values.seats === '' ? null : Number(values.seats) }),
    done: t('workspaces.saved', { name: form.values.name }),
    onDone: onClose,
  })
  return (
    <FormModal title={t('workspaces.edit')} form={form} submit={submit} action={t('kit.save')} onClose={onClose}>
      <TextInput
        label={t('kit.field.name')}
        data-autofocus
        {...fieldProps('workspaces.update', 'name')}
        {...form.getInputProps('name')}
      />
      <NumberInput
        label={t('workspaces.seats')}
        description={t('workspaces.seatsHint')}
        min={1}
        {...form.getInputProps('seats')}
      />
    </FormModal>
  )
}

/** A member whose account was asked for as well. */
type Account = { _id: string; name: string; email: string }
const accountOf = ({ user }: Member) => user as unknown as Account | null

function Members({ id }: { id: string }) {
  const { t } = useTranslation()
  const [changed, setChanged] = useState<Member>()
  const confirm = useConfirm()
  const query = useQuery(membersQuery(id))
  const { refusalOf, refusalFor } = useRights(id)
  const nameOf = (member: Member) => accountOf(member)?.name ?? t('workspaces.noAccount')
  const remove = (member: Member) =>
    confirm({
      title: t('workspaces.removeTitle', { name: nameOf(member) }),
      text: t('workspaces.removeText'),
      action: t('workspaces.remove'),
      run: () => rollcall.members.remove(id, accountOf(member)?._id ?? member._id),
      done: t('workspaces.removed', { name: nameOf(member) }),
    })
  return (
    <Section title={t('workspaces.members')}>
      <PlainTable
        label={t('workspaces.members')}
        query={query}
        empty={t('workspaces.noMembers')}
        columns={[
          {
            name: 'name',
            title: t('kit.field.name'),
            render: member => (
              <>
                <strong>{nameOf(member)}</strong>{' '}
                <Text span c="dimmed" size="sm">
                  {accountOf(member)?.email}
                </Text>
              </>
            ),
          },
          { name: 'role', title: t('kit.field.role'), render: ({ role }) => role },
          { name: 'joined', title: t('workspaces.joined'), render: ({ joinedAt }) => <When at={joinedAt} /> },
          {
            name: 'actions',
            width: 60,
            render: member => (
              <MoreMenu name={nameOf(member)}>
                <MenuAction
                  call="members.update"
                  unless={refusalOf('update') ?? refusalFor(member)}
                  onClick={() => setChanged(member)}
                >
                  {t('users.changeRole')}
                </MenuAction>
                <MenuAction
                  call="members.remove"
                  unless={refusalOf('delete') ?? refusalFor(member)}
                  danger
                  onClick={() => remove(member)}
                >
                  {t('workspaces.remove')}
                </MenuAction>
              </MoreMenu>
            ),
          },
        ]}
      />
      {changed && (
        <ChangeMember workspace={id} member={changed} name={nameOf(changed)} onClose={() => setChanged(undefined)} />
      )}
    </Section>
  )
}

function ChangeMember({
  workspace,
  member,
  name,
  onClose,
}: {
  workspace: string
  member: Member
  name: string
  onClose: () => void
}) {
  const { t } = useTranslation()
  const form = useForm({ initialValues: { role: member.role } })
  const { excessOf } = useRights(workspace)
  const submit = useSubmit(form, {
    send: values => rollcall.members.update(workspace, accountOf(member)?._id ?? member._id, values),
    done: t('users.changed', { name }),
    onDone: onClose,
  })
  return (
    <FormModal
      title={t('workspaces.roleOf', { name })}
      form={form}
      submit={submit}
      action={t('users.changeRole')}
      onClose={onClose}
    >
      <MemberRoleSelect excessIn={excessOf} {...form.getInputProps('role')} />
    </FormModal>
  )
}

function Invitations({
  id,
  query,
  onInvited,
}: {
  id: string
  query: UseQueryResult<RecordPage<Invitation>>
  onInvited: (invitation: CreatedInvitation) => void
}) {
  const { t } = useTranslation()
  const act = useAct()
  const client = useQueryClient()
  const me = useMe()
  const { refusalOf } = useRights(id)
  const unlessSent = ({ createdBy, status }: Invitation) =>
    status === 'pending' && createdBy.kind === 'user' && createdBy.id !== me.user._id
      ? sentence(errorTexts['invitation.sender_required'])
      : undefined
  const revoke = ({ _id, email }: Invitation) =>
    void act({
      run: () => rollcall.invitations.revoke(id, _id),
      done: t('workspaces.revoked', { email }),
    })
  const resend = ({ _id, email, role, status }: Invitation) =>
    void act({
      run: async () => {
        if (status === 'pending') await rollcall.invitations.revoke(id, _id)
        try {
          onInvited(await rollcall.invitations.create(id, { email, role }))
        } catch (error) {
          void client.invalidateQueries() // the old one is gone
          throw error
        }
      },
      done: t('workspaces.invited', { email }),
    })
  return (
    <Section title={t('workspaces.invitations')}>
      <PlainTable
        label={t('workspaces.invitations')}
        query={query}
        empty={t('workspaces.noInvitations')}
        columns={[
          { name: 'email', title: t('kit.field.email'), render: ({ email }) => <strong>{email}</strong> },
          { name: 'role', title: t('kit.field.role'), render: ({ role }) => role },
          {
            name: 'status',
            title: t('kit.field.status'),
            render: ({ status }) => <StatusChip tone={TONES[status]}>{t(`workspaces.status.${status}`)}</StatusChip>,
          },
          { name: 'by', title: t('users.actor'), render: ({ createdBy }) => createdBy.name },
          { name: 'expires', title: t('workspaces.expires'), render: ({ expiresAt }) => <When at={expiresAt} /> },
          {
            name: 'actions',
            width: 60,
            render: invitation =>
              invitation.status !== 'accepted' && (
                <MoreMenu name={invitation.email}>
                  <MenuAction
                    call="invitations.create"
                    unless={refusalOf('create') ?? unlessSent(invitation)}
                    onClick={() => resend(invitation)}
                  >
                    {t('workspaces.resend')}
                  </MenuAction>
                  {invitation.status === 'pending' && (
                    <MenuAction
                      call="invitations.revoke"
                      unless={unlessSent(invitation)}
                      danger
                      onClick={() => revoke(invitation)}
                    >
                      {t('workspaces.revoke')}
                    </MenuAction>
                  )}
                </MoreMenu>
              ),
          },
        ]}
      />
    </Section>
  )
}

function Invite({
  workspace: { _id, name },
  onClose,
  onInvited,
}: {
  workspace: WorkspaceRecord
  onClose: () => void
  onInvited: (invitation: CreatedInvitation) => void
}) {
  const { t } = useTranslation()
  const { excessOf } = useRights(_id)
  const form = useForm({ initialValues: { email: '', role: 'user' } })
  const submit = useSubmit(form, {
    send: values => rollcall.invitations.create(_id, values),
    done: t('workspaces.invited', { email: form.values.email }),
    onDone: onInvited,
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
      <MemberRoleSelect excessIn={excessOf} {...form.getInputProps('role')} />
    </FormModal>
  )
}

/** Shows the link of a new invitation, which cannot be read again. */
function InvitationLink({
  invitation: { email, acceptUrl },
  onClose,
}: {
  invitation: CreatedInvitation
  onClose: () => void
}) {
  const { t } = useTranslation()
  const leave = useShownOnce()
  return (
    <Modal opened onClose={() => void leave(onClose)} title={t('workspaces.invited', { email })} size="lg">
      <Text size="md" mb="md">
        {t('workspaces.linkText')}
      </Text>
      <Copyable value={acceptUrl} what={t('workspaces.link')} mono />
      <Group justify="flex-end" mt="lg">
        <Button onClick={onClose}>{t('kit.done')}</Button>
      </Group>
    </Modal>
  )
}
