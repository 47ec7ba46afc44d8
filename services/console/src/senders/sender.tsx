import { Alert, Button, Group, Menu, Skeleton, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { MailIcon, PersonIcon, PlugIcon, PlusIcon, StarIcon, TrashIcon } from '@primer/octicons-react'
import type { Sender as SenderRecord } from '@rollcall/sdk'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { isStatus, rollcall } from '../api.ts'
import { Action, MenuAction } from '../kit/action.tsx'
import { BackLink } from '../kit/back-link.tsx'
import { useAct, useConfirm } from '../kit/confirm.tsx'
import { Copyable } from '../kit/copyable.tsx'
import { Facts } from '../kit/facts.tsx'
import { FormModal, useSubmit } from '../kit/form-modal.tsx'
import { MoreMenu } from '../kit/more-menu.tsx'
import { Page } from '../kit/page.tsx'
import { PlainTable } from '../kit/plain-table.tsx'
import { useReports } from '../kit/problem.ts'
import { ProblemAlert } from '../kit/problem-alert.tsx'
import { Section } from '../kit/section.tsx'
import { Tag } from '../kit/status-chip.tsx'
import { When } from '../kit/when.tsx'
import { useMe } from '../session.ts'
import { UserLink } from '../users/user-link.tsx'
import { UserSelect } from '../users/user-select.tsx'
import { SendTest } from './send-test.tsx'
import { SenderSettings } from './sender-settings.tsx'
import { SenderStatus } from './sender-status.tsx'

const ALL = 1000
/** What it takes to choose a person, and to share with or transfer to them. */
const SHARE = ['senders.share', 'users.list'] as const
const TRANSFER = ['senders.transfer', 'users.list'] as const

/** One sender: its settings, its mail account, who may use it. */
export function Sender() {
  const { t } = useTranslation()
  const { id } = useParams({ from: '/shell/senders/$id' })
  const { user, role } = useMe()
  const [dialog, setDialog] = useState<'test' | 'share' | 'transfer'>()
  const close = () => setDialog(undefined)
  const {
    data: sender,
    error,
    refetch,
  } = useQuery({
    queryKey: ['senders', id],
    queryFn: ({ signal }) => rollcall.senders.get(id, { signal }),
  })
  const back = <BackLink to="/senders">{t('senders.back')}</BackLink>
  if (!sender)
    return (
      <Page title={t('senders.title')} above={back}>
        {error ? <ProblemAlert error={error} onRetry={refetch} /> : <Skeleton height={240} />}
      </Page>
    )
  const isOwner = sender.owner === user._id
  const isHeir = sender.owner === null && role === 'owner'
  return (
    <Page
      title={sender.email}
      above={back}
      lead={
        <Group gap="sm">
          <SenderStatus sender={sender} />
          {sender.isDefault && <Tag>{t('senders.default')}</Tag>}
          <span>{sender.name}</span>
        </Group>
      }
      actions={
        isOwner ? (
          <>
            <Action call="senders.test" variant="default" leftSection={<MailIcon />} onClick={() => setDialog('test')}>
              {t('senders.test')}
            </Action>
            <SenderMenu sender={sender} onTransfer={() => setDialog('transfer')} />
          </>
        ) : (
          isHeir && (
            <Action call={TRANSFER} leftSection={<PersonIcon />} onClick={() => setDialog('transfer')}>
              {t('senders.transfer')}
            </Action>
          )
        )
      }
    >
      {isHeir && <Alert color="yellow">{t('senders.orphaned')}</Alert>}
      {sender.oauth && <Connection sender={sender} isOwner={isOwner} />}
      <SenderFacts sender={sender} />
      {isOwner ? <SenderSettings sender={sender} /> : !isHeir && <Text c="dimmed">{t('senders.onlyOwner')}</Text>}
      <Sharing sender={sender} onShare={() => setDialog('share')} />
      {dialog === 'test' && <SendTest sender={sender} onClose={close} />}
      {dialog === 'share' && <Share sender={sender} onClose={close} />}
      {dialog === 'transfer' && <Transfer sender={sender} onClose={close} />}
    </Page>
  )
}

function SenderFacts({ sender }: { sender: SenderRecord }) {
  const { t } = useTranslation()
  return (
    <Facts
      facts={{
        [t('senders.deliveryLabel')]: t(`senders.delivery.${sender.delivery}`),
        [t('senders.owner')]: <OwnerName id={sender.owner} />,
        [t('kit.field.created')]: <When at={sender.createdAt} />,
        [t('kit.field.id')]: <Copyable value={sender._id} what={t('kit.field.id')} mono />,
      }}
    />
  )
}

function OwnerName({ id }: { id: string | null }) {
  const { t } = useTranslation()
  const { user } = useMe()
  if (id === null) return t('senders.ownerDeleted')
  return id === user._id ? t('senders.you') : <UserLink id={id} />
}

/** The state of the mail account behind a sender, and the way to connect it. */
function Connection({ sender: { _id, oauth }, isOwner }: { sender: SenderRecord; isOwner: boolean }) {
  const { t } = useTranslation()
  const { impersonatedBy } = useMe()
  const { failed } = useReports()
  const { provider, status, email } = oauth!
  const name = t(`senders.${provider}`)
  const start = useMutation({
    mutationFn: () => rollcall.senders.startOauth(provider, { sender: _id }),
    onSuccess: ({ url }) => location.assign(url),
    onError: failed,
  })
  return (
    <Alert
      color={status === 'connected' ? 'teal' : status === 'expired' ? 'red' : 'yellow'}
      icon={<PlugIcon />}
      title={t('senders.connection.title')}
    >
      <Text size="md">{t(`senders.connection.${status}`, { provider: name, email: email ?? '' })}</Text>
      {isOwner && (
        <Button
          mt="sm"
          variant={status === 'connected' ? 'default' : 'filled'}
          disabled={Boolean(impersonatedBy)}
          loading={start.isPending}
          onClick={() => start.mutate()}
        >
          {status === 'pending' ? t('senders.connection.connect', { provider: name }) : t('senders.connection.again')}
        </Button>
      )}
    </Alert>
  )
}

function Sharing({ sender: { _id, email }, onShare }: { sender: SenderRecord; onShare: () => void }) {
  const { t } = useTranslation()
  const act = useAct()
  const query = useQuery({
    queryKey: ['senders', _id, 'shared'],
    queryFn: async ({ signal }) => await rollcall.senders.listSharedUsers(_id, { limit: ALL }, { signal }),
  })
  if (isStatus(query.error, 403))
    return (
      <Section title={t('senders.sharing.title')}>
        <Text c="dimmed">{t('senders.sharing.onlyCreator')}</Text>
      </Section>
    )
  return (
    <Section
      title={t('senders.sharing.title')}
      lead={t('senders.sharing.lead')}
      action={
        <Action call={SHARE} variant="default" leftSection={<PlusIcon />} onClick={onShare}>
          {t('senders.sharing.add')}
        </Action>
      }
    >
      <PlainTable
        label={t('senders.sharing.title')}
        query={query}
        empty={t('senders.sharing.nobody')}
        columns={[
          { name: 'name', title: t('kit.field.name'), render: ({ name }) => <strong>{name}</strong> },
          { name: 'email', title: t('kit.field.email'), render: user => user.email },
          {
            name: 'actions',
            render: user => (
              <Action
                call="senders.unshare"
                variant="default"
                size="compact-sm"
                onClick={() =>
                  void act({
                    run: () => rollcall.senders.unshare(_id, { userIds: [user._id] }),
                    done: t('senders.sharing.removed', { name: user.name, email }),
                  })
                }
              >
                {t('senders.sharing.remove')}
              </Action>
            ),
          },
        ]}
      />
    </Section>
  )
}

function Share({ sender: { _id, email, owner, sharedWith }, onClose }: { sender: SenderRecord; onClose: () => void }) {
  const { t } = useTranslation()
  const form = useForm({ initialValues: { userId: null as string | null } })
  const submit = useSubmit(form, {
    send: ({ userId }) => rollcall.senders.share(_id, { userIds: userId ? [userId] : [] }),
    done: t('senders.sharing.added', { email }),
    onDone: onClose,
  })
  return (
    <FormModal
      title={t('senders.sharing.addTitle', { email })}
      form={form}
      submit={submit}
      action={t('senders.sharing.add')}
      onClose={onClose}
    >
      <UserSelect
        label={t('senders.sharing.person')}
        without={[owner, ...sharedWith]}
        {...form.getInputProps('userId')}
      />
    </FormModal>
  )
}

function Transfer({ sender: { _id, email, owner }, onClose }: { sender: SenderRecord; onClose: () => void }) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const form = useForm({ initialValues: { userId: null as string | null } })
  const submit = useSubmit(form, {
    send: ({ userId }) => rollcall.senders.transfer(_id, { userId: String(userId) }),
    done: t('senders.transferred', { email }),
    onDone: () => void navigate({ to: '/senders' }),
  })
  return (
    <FormModal
      title={t('senders.transferTitle', { email })}
      form={form}
      submit={submit}
      action={t('senders.transfer')}
      onClose={onClose}
    >
      <Text size="md">{t('senders.transferText')}</Text>
      <UserSelect label={t('senders.transferTo')} without={[owner]} {...form.getInputProps('userId')} />
    </FormModal>
  )
}

function SenderMenu({
  sender: { _id, email, isDefault, active },
  onTransfer,
}: {
  sender: SenderRecord
  onTransfer: () => void
}) {
  const { t } = useTranslation()
  const act = useAct()
  const confirm = useConfirm()
  const navigate = useNavigate()
  return (
    <MoreMenu name={email} variant="default">
      {!isDefault && (
        <MenuAction
          call="senders.setDefault"
          icon={<StarIcon />}
          onClick={() =>
            void act({ run: () => rollcall.senders.setDefault(_id), done: t('senders.madeDefault', { email }) })
          }
        >
          {t('senders.makeDefault')}
        </MenuAction>
      )}
      <MenuAction
        call="senders.update"
        onClick={() =>
          void act({
            run: () => rollcall.senders.update(_id, { active: !active }),
            done: t(active ? 'senders.deactivated' : 'senders.activated', { email }),
          })
        }
      >
        {t(active ? 'senders.deactivate' : 'senders.activate')}
      </MenuAction>
      <MenuAction call={TRANSFER} icon={<PersonIcon />} onClick={onTransfer}>
        {t('senders.transfer')}
      </MenuAction>
      <Menu.Divider />
      <MenuAction
        call="senders.delete"
        danger
        icon={<TrashIcon />}
        onClick={() =>
          confirm({
            title: t('senders.deleteTitle', { email }),
            text: t('senders.deleteText'),
            action: t('senders.delete'),
            run: () => rollcall.senders.delete(_id),
            done: t('senders.deleted', { email }),
            onDone: () => void navigate({ to: '/senders', ignoreBlocker: true }),
          })
        }
      >
        {t('senders.delete')}
      </MenuAction>
    </MoreMenu>
  )
}
