import { Group, Select, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { MailIcon, PlusIcon } from '@primer/octicons-react'
import type { CreateSenderBody, List, Sender, User } from '@rollcall/sdk'
import { useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { Action } from '../kit/action.tsx'
import { Empty } from '../kit/empty.tsx'
import { FormModal, fieldProps, useSubmit } from '../kit/form-modal.tsx'
import { Page } from '../kit/page.tsx'
import { RecordLink } from '../kit/record-link.tsx'
import { type Column, RecordTable } from '../kit/record-table.tsx'
import { Tag } from '../kit/status-chip.tsx'
import { useCreating } from '../kit/use-creating.ts'
import { useList } from '../kit/use-list.ts'
import { When } from '../kit/when.tsx'
import { useMe } from '../session.ts'
import { SenderStatus } from './sender-status.tsx'
import { SmtpFields, smtpOf, valuesOfSmtp } from './smtp-fields.tsx'

const SHOWN_PEOPLE = 2
const DELIVERIES = ['provider', 'hosted', 'smtp', 'oauth'] as const

type Person = Pick<User, '_id' | 'name'>
/** A sender with the names of its people. */
type ListedSender = Omit<Sender, 'owner' | 'sharedWith'> & { owner: Person | null; sharedWith: Person[] }

/** The senders that the person owns or shares. */
export function Senders() {
  const { t } = useTranslation()
  const { isCreating, open, close } = useCreating('senders.create')
  const { user } = useMe()
  const view = useList(
    ['senders'],
    ['email', 'name'],
    (query, options) =>
      rollcall.senders.list({ ...query, populate: 'owner sharedWith' }, options) as unknown as List<ListedSender>,
  )
  const nameOf = ({ _id, name }: Person) => (_id === user._id ? t('senders.you') : name)
  const columns: Column<ListedSender>[] = [
    {
      name: 'email',
      title: t('kit.field.email'),
      sort: 'email',
      render: ({ _id, email, name, isDefault }) => (
        <Group gap="xs">
          <RecordLink to="/senders/$id" params={{ id: _id }} name={email} detail={name} />
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
      name: 'owner',
      title: t('senders.owner'),
      isMinor: true,
      render: ({ owner }) => (owner ? nameOf(owner) : t('senders.ownerDeleted')),
    },
    {
      name: 'sharedWith',
      title: t('senders.sharing.title'),
      isMinor: true,
      render: ({ sharedWith }) => firstOf(sharedWith.map(nameOf)),
    },
    {
      name: 'createdAt',
      title: t('kit.field.created'),
      sort: 'createdAt',
      isMinor: true,
      render: ({ createdAt }) => <When at={createdAt} />,
    },
  ]
  const create = (
    <Action call="senders.create" leftSection={<PlusIcon />} onClick={open}>
      {t('senders.new')}
    </Action>
  )
  return (
    <Page title={t('senders.title')} lead={t('senders.lead')} actions={create}>
      <RecordTable
        label={t('senders.title')}
        view={view}
        columns={columns}
        nameOf={({ email }) => email}
        empty={
          <Empty icon={MailIcon} title={t('senders.empty.title')} action={create}>
            {t('senders.empty.text')}
          </Empty>
        }
      />
      {isCreating && <CreateSender onClose={close} />}
    </Page>
  )
}

/** The first names, and how many there are more. */
function firstOf(names: readonly string[]): string {
  const more = names.length - SHOWN_PEOPLE
  return [names.slice(0, SHOWN_PEOPLE).join(', '), more > 0 && `+${more}`].filter(Boolean).join(' ')
}

function CreateSender({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation()
  const form = useForm({
    initialValues: {
      name: '',
      email: '',
      replyTo: '',
      delivery: 'provider' as CreateSenderBody['delivery'],
      smtp: valuesOfSmtp(),
      oauth: { provider: 'google' as 'google' | 'microsoft' },
    },
  })
  const navigate = useNavigate()
  const { delivery } = form.values
  const submit = useSubmit(form, {
    send: ({ smtp, oauth, replyTo, ...values }) =>
      rollcall.senders.create({
        ...values,
        ...(replyTo && { replyTo }),
        ...(delivery === 'oauth' && { oauth }),
        ...(delivery === 'smtp' && { smtp: smtpOf(smtp) }),
      }),
    done: t('senders.created', { email: form.values.email }),
    onDone: ({ _id }) => {
      onClose()
      void navigate({ to: '/senders/$id', params: { id: _id } })
    },
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
      {delivery === 'smtp' && <SmtpFields form={form} />}
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
