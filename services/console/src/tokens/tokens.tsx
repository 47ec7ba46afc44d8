import { Menu, Select, Text, Textarea, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { KeyIcon, PlusIcon, TrashIcon } from '@primer/octicons-react'
import type { Token } from '@rollcall/sdk'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { Action, MenuAction } from '../kit/action.tsx'
import { useAct, useConfirm } from '../kit/confirm.tsx'
import { Empty } from '../kit/empty.tsx'
import { FormModal, fieldProps, useSubmit } from '../kit/form-modal.tsx'
import { MoreMenu } from '../kit/more-menu.tsx'
import { Page } from '../kit/page.tsx'
import { RecordLink } from '../kit/record-link.tsx'
import { type Column, RecordTable } from '../kit/record-table.tsx'
import { SecretOnce } from '../kit/secret-once.tsx'
import { StatusChip, type Tone } from '../kit/status-chip.tsx'
import { useCreating } from '../kit/use-creating.ts'
import { useList } from '../kit/use-list.ts'
import { When } from '../kit/when.tsx'
import { RoleSelect } from '../roles/role-select.tsx'

const TONES: Record<Token['status'], Tone> = {
  active: 'good',
  inactive: 'neutral',
  archived: 'neutral',
  expired: 'warn',
  'role-missing': 'bad',
  'creator-missing': 'bad',
}
const EXPIRY_DAYS = ['7', '30', '90', '365'] as const
const DAY_MS = 24 * 60 * 60 * 1000

/** The API tokens. */
export function Tokens() {
  const { t } = useTranslation()
  const [secret, setSecret] = useState<string>()
  const { isCreating, open, close } = useCreating('tokens.create')
  const view = useList<Token>(['tokens'], ['name'], rollcall.tokens.list)
  const columns: Column<Token>[] = [
    {
      name: 'name',
      title: t('kit.field.name'),
      sort: 'name',
      render: ({ _id, name, tokenPreview }) => (
        <RecordLink
          to="/tokens/$id"
          params={{ id: _id }}
          name={name}
          detail={<code>{tokenPreview.split(':')[1]}</code>}
        />
      ),
    },
    {
      name: 'status',
      title: t('kit.field.status'),
      render: token => <TokenStatus token={token} />,
    },
    {
      name: 'role',
      title: t('kit.field.role'),
      sort: 'role',
      isMinor: true,
      render: ({ role }) =>
        role ?? (
          <Text span c="dimmed" size="sm">
            {t('tokens.asCreator')}
          </Text>
        ),
    },
    {
      name: 'lastUsed',
      title: t('tokens.lastUsed'),
      sort: 'lastUsedAt',
      isMinor: true,
      render: ({ lastUsedAt }) =>
        lastUsedAt ? (
          <When at={lastUsedAt} />
        ) : (
          <Text span c="dimmed" size="sm">
            {t('tokens.never')}
          </Text>
        ),
    },
    {
      name: 'expires',
      title: t('tokens.expires'),
      sort: 'expiresAt',
      isMinor: true,
      render: ({ expiresAt }) =>
        expiresAt ? (
          <When at={expiresAt} />
        ) : (
          <Text span c="dimmed" size="sm">
            {t('tokens.never')}
          </Text>
        ),
    },
    { name: 'by', title: t('tokens.by'), isMinor: true, render: ({ createdBy }) => createdBy.name },
  ]
  const create = (
    <Action call="tokens.create" leftSection={<PlusIcon />} onClick={open}>
      {t('tokens.create')}
    </Action>
  )
  return (
    <Page title={t('tokens.title')} lead={t('tokens.lead')} actions={create}>
      <RecordTable
        label={t('tokens.title')}
        view={view}
        columns={columns}
        nameOf={({ name }) => name}
        actions={token => <TokenMenu token={token} />}
        empty={
          <Empty icon={KeyIcon} title={t('tokens.empty.title')} action={create}>
            {t('tokens.empty.text')}
          </Empty>
        }
      />
      {isCreating && (
        <CreateToken
          onClose={close}
          onCreated={token => {
            close()
            setSecret(token)
          }}
        />
      )}
      {secret && (
        <SecretOnce
          secret={secret}
          title={t('tokens.secret.title')}
          text={t('tokens.secret.text')}
          what={t('tokens.secret.token')}
          variable="ROLLCALL_TOKEN"
          examples={[
            {
              title: t('tokens.secret.curl'),
              code: `curl -H "Authorization: ${secret}" ${location.origin}/api/auth/me`,
            },
            { title: t('tokens.secret.sdk'), code: sdkExample(secret) },
          ]}
          onClose={() => setSecret(undefined)}
        />
      )}
    </Page>
  )
}

function sdkExample(token: string): string {
  return `// npm install @rollcall/sdk
import { createClient } from '@rollcall/sdk'

const rollcall = createClient({ baseUrl: '${location.origin}', token: '${token}' })
for await (const { email } of rollcall.contacts.list()) console.log(email)`
}

/** The state of a token, as a chip. */
export function TokenStatus({ token: { status } }: { token: Token }) {
  const { t } = useTranslation()
  return <StatusChip tone={TONES[status]}>{t(`tokens.status.${status}`)}</StatusChip>
}

/** What can be done with a token. */
export function TokenMenu({
  token: { _id, name, active },
  variant = 'subtle',
  onDeleted,
}: {
  token: Token
  variant?: 'subtle' | 'default'
  onDeleted?: () => void
}) {
  const { t } = useTranslation()
  const act = useAct()
  const confirm = useConfirm()
  return (
    <MoreMenu name={name} variant={variant}>
      <MenuAction
        call="tokens.update"
        onClick={() =>
          void act({
            run: () => rollcall.tokens.update(_id, { active: !active }),
            done: t(active ? 'tokens.deactivated' : 'tokens.activated', { name }),
          })
        }
      >
        {t(active ? 'tokens.deactivate' : 'tokens.activate')}
      </MenuAction>
      <Menu.Divider />
      <MenuAction
        call="tokens.delete"
        danger
        icon={<TrashIcon />}
        onClick={() =>
          confirm({
            title: t('tokens.deleteTitle', { name }),
            text: t('tokens.deleteText'),
            action: t('tokens.delete'),
            run: () => rollcall.tokens.delete(_id),
            done: t('tokens.deleted', { name }),
            ...(onDeleted && { onDone: onDeleted }),
          })
        }
      >
        {t('tokens.delete')}
      </MenuAction>
    </MoreMenu>
  )
}

function CreateToken({ onClose, onCreated }: { onClose: () => void; onCreated: (secret: string) => void }) {
  const { t } = useTranslation()
  const form = useForm({
    initialValues: { name: '', description: '', role: null as string | null, days: '' as string | null },
  })
  const submit = useSubmit(form, {
    send: ({ name, description, role, days }) =>
      rollcall.tokens.create({
        name,
        ...(description && { description }),
        ...(role && { role }),
        ...(days && { expiresAt: new Date(Date.now() + Number(days) * DAY_MS).toISOString() }),
      }),
    onDone: ({ token }) => onCreated(token),
  })
  return (
    <FormModal title={t('tokens.create')} form={form} submit={submit} action={t('tokens.create')} onClose={onClose}>
      <TextInput
        label={t('kit.field.name')}
        autoComplete="off"
        data-autofocus
        {...fieldProps('tokens.create', 'name')}
        {...form.getInputProps('name')}
      />
      <Textarea
        label={t('kit.field.description')}
        autosize
        {...fieldProps('tokens.create', 'description')}
        {...form.getInputProps('description')}
      />
      <RoleSelect
        description={t('tokens.roleHint')}
        placeholder={t('tokens.asCreator')}
        clearable
        offers={({ kind, builtIn }) => kind === 'api' && !builtIn}
        {...form.getInputProps('role')}
      />
      <Select
        label={t('tokens.expires')}
        placeholder={t('tokens.expiry.never')}
        clearable
        data={EXPIRY_DAYS.map(value => ({ value, label: t('tokens.expiry.days', { count: Number(value) }) }))}
        {...form.getInputProps('days')}
      />
    </FormModal>
  )
}
