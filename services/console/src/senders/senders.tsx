import { Alert, Button, Group, Menu, NumberInput, PasswordInput, Select, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { MailIcon, PlusIcon, StarIcon, TrashIcon } from '@primer/octicons-react'
import type { CreateSenderBody, Sender } from '@rollcall/sdk'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { Action, MenuAction } from '../kit/action.tsx'
import { useAct, useConfirm } from '../kit/confirm.tsx'
import { Empty } from '../kit/empty.tsx'
import { FormModal, fieldProps, useSubmit } from '../kit/form-modal.tsx'
import { MoreMenu } from '../kit/more-menu.tsx'
import { Page } from '../kit/page.tsx'
import { type Column, RecordTable } from '../kit/record-table.tsx'
import { StatusChip, Tag } from '../kit/status-chip.tsx'
import { useCreateKey } from '../kit/use-create-key.ts'
import { useList } from '../kit/use-list.ts'
import { When } from '../kit/when.tsx'
import { useMe } from '../session.ts'

const DELIVERIES = ['provider', 'hosted', 'smtp', 'oauth'] as const
const SUBMISSION_PORT = 587

/** The senders that the person owns or shares. */
export function Senders() {
  const { t } = useTranslation()
  const [isCreating, setCreating] = useState(false)
  const [tested, setTested] = useState<Sender>()
  const create = () => setCreating(true)
  useCreateKey(create)
  const view = useList<Sender>(['senders'], ['email', 'name'], rollcall.senders.list)
  const columns: Column<Sender>[] = [
    {
      name: 'email',
      title: t('kit.field.email'),
      sort: 'email',
      render: ({ email, name, isDefault }) => (
        <Group gap="xs">
          <Text span fw={550} size="sm">
            {email}
          </Text>
          <Text span c="dimmed" size="sm">
            {name}
          </Text>
          {isDefault && <Tag>{t('senders.default')}</Tag>}
        </Group>
      ),
    },
    {
      name: 'delivery',
      title: t('senders.deliveryLabel'),
      sort: 'delivery',
      isMinor: true,
      render: ({ delivery }) => t(`senders.delivery.${delivery}`),
    },
    { name: 'status', title: t('kit.field.status'), render: sender => <SenderStatus sender={sender} /> },
    {
      name: 'createdAt',
      title: t('kit.field.created'),
      sort: 'createdAt',
      isMinor: true,
      render: ({ createdAt }) => <When at={createdAt} />,
    },
  ]
  return (
    <Page
      title={t('senders.title')}
      lead={t('senders.lead')}
      actions={
        <Action call="senders.create" leftSection={<PlusIcon />} onClick={create}>
          {t('senders.new')}
        </Action>
      }
    >
      <RecordTable
        label={t('senders.title')}
        view={view}
        columns={columns}
        nameOf={({ email }) => email}
        actions={sender => <SenderMenu sender={sender} onTest={() => setTested(sender)} />}
        empty={
          <Empty
            icon={MailIcon}
            title={t('senders.empty.title')}
            action={<Button onClick={create}>{t('senders.new')}</Button>}
          >
            {t('senders.empty.text')}
          </Empty>
        }
      />
      {isCreating && <CreateSender onClose={() => setCreating(false)} />}
      {tested && <TestSender sender={tested} onClose={() => setTested(undefined)} />}
    </Page>
  )
}

function SenderStatus({ sender: { active, oauth } }: { sender: Sender }) {
  const { t } = useTranslation()
  if (oauth?.status === 'expired') return <StatusChip tone="bad">{t('senders.expired')}</StatusChip>
  if (oauth?.status === 'pending') return <StatusChip tone="warn">{t('senders.connect')}</StatusChip>
  return <StatusChip tone={active ? 'good' : 'neutral'}>{t(active ? 'senders.active' : 'senders.inactive')}</StatusChip>
}

function SenderMenu({ sender: { _id, email, isDefault }, onTest }: { sender: Sender; onTest: () => void }) {
  const { t } = useTranslation()
  const act = useAct()
  const confirm = useConfirm()
  return (
    <MoreMenu name={email}>
      <MenuAction call="senders.test" icon={<MailIcon />} onClick={onTest}>
        {t('senders.test')}
      </MenuAction>
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
          })
        }
      >
        {t('senders.delete')}
      </MenuAction>
    </MoreMenu>
  )
}

function CreateSender({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation()
  const form = useForm({
    initialValues: {
      name: '',
      email: '',
      replyTo: '',
      delivery: 'provider' as CreateSenderBody['delivery'],
      smtp: { host: '', port: SUBMISSION_PORT as number | string, username: '', password: '' },
      oauth: { provider: 'google' as 'google' | 'microsoft' },
    },
  })
  const { delivery } = form.values
  const submit = useSubmit(form, {
    send: ({ smtp, oauth, replyTo, ...values }) =>
      rollcall.senders.create({
        ...values,
        ...(replyTo && { replyTo }),
        ...(delivery === 'oauth' && { oauth }),
        ...(delivery === 'smtp' && {
          smtp: {
            host: smtp.host,
            port: Number(smtp.port),
            ...(smtp.username && { username: smtp.username }),
            ...(smtp.password && { password: smtp.password }),
          },
        }),
      }),
    done: t('senders.created', { email: form.values.email }),
    onDone: onClose,
  })
  return (
    <FormModal title={t('senders.new')} form={form} submit={submit} action={t('kit.create')} onClose={onClose}>
      <TextInput
        label={t('kit.field.name')}
        autoComplete="off"
        data-autofocus
        {...fieldProps('senders.create', 'name')}
        {...form.getInputProps('name')}
      />
      <TextInput
        label={t('kit.field.email')}
        type="email"
        autoComplete="off"
        {...fieldProps('senders.create', 'email')}
        {...form.getInputProps('email')}
      />
      <TextInput label={t('senders.replyTo')} type="email" autoComplete="off" {...form.getInputProps('replyTo')} />
      <Select
        label={t('senders.deliveryLabel')}
        allowDeselect={false}
        data={DELIVERIES.map(value => ({ value, label: t(`senders.delivery.${value}`) }))}
        {...form.getInputProps('delivery')}
      />
      {delivery === 'smtp' && (
        <>
          <Group grow align="flex-start">
            <TextInput label={t('senders.host')} required {...form.getInputProps('smtp.host')} />
            <NumberInput label={t('senders.port')} required hideControls {...form.getInputProps('smtp.port')} />
          </Group>
          <TextInput label={t('senders.username')} autoComplete="off" {...form.getInputProps('smtp.username')} />
          <PasswordInput
            label={t('kit.field.password')}
            autoComplete="new-password"
            {...form.getInputProps('smtp.password')}
          />
        </>
      )}
      {delivery === 'oauth' && (
        <Select
          label={t('senders.account')}
          allowDeselect={false}
          data={(['google', 'microsoft'] as const).map(value => ({ value, label: t(`senders.${value}`) }))}
          {...form.getInputProps('oauth.provider')}
        />
      )}
    </FormModal>
  )
}

function TestSender({ sender: { _id, email }, onClose }: { sender: Sender; onClose: () => void }) {
  const { t } = useTranslation()
  const { user } = useMe()
  const [reply, setReply] = useState('')
  const form = useForm({ initialValues: { to: user.email } })
  const submit = useSubmit(form, {
    send: values => rollcall.senders.test(_id, values),
    onDone: ({ message }) => setReply(message),
  })
  return (
    <FormModal
      title={t('senders.testTitle', { email })}
      form={form}
      submit={submit}
      action={t('senders.test')}
      onClose={onClose}
    >
      <TextInput
        label={t('senders.testTo')}
        type="email"
        data-autofocus
        {...fieldProps('senders.test', 'to')}
        {...form.getInputProps('to')}
      />
      {reply && (
        <Alert color="teal" role="status">
          {reply}
        </Alert>
      )}
    </FormModal>
  )
}
