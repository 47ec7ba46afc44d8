import { PasswordInput, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { PlusIcon } from '@primer/octicons-react'
import type { User } from '@rollcall/sdk'
import type { ComponentProps } from 'react'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { Action } from '../kit/action.tsx'
import { FilterBar } from '../kit/filter-bar.tsx'
import { FormModal, fieldProps, useSubmit } from '../kit/form-modal.tsx'
import { Page } from '../kit/page.tsx'
import { RecordLink } from '../kit/record-link.tsx'
import { type Column, RecordTable } from '../kit/record-table.tsx'
import { SearchBox } from '../kit/search-box.tsx'
import { StatusChip } from '../kit/status-chip.tsx'
import { useCreating } from '../kit/use-creating.ts'
import { useList } from '../kit/use-list.ts'
import { When } from '../kit/when.tsx'
import { RoleSelect } from '../roles/role-select.tsx'

/** The accounts of the organization. */
export function Users() {
  const { t } = useTranslation()
  const { isCreating, open, close } = useCreating('users.create')
  const view = useList<User>(['users'], ['email', 'name'], rollcall.users.list)
  const { search, change } = view
  const columns: Column<User>[] = [
    {
      name: 'name',
      title: t('kit.field.name'),
      sort: 'name',
      render: ({ _id, name, email }) => <RecordLink to="/users/$id" params={{ id: _id }} name={name} detail={email} />,
    },
    { name: 'role', title: t('kit.field.role'), sort: 'role', render: ({ role }) => role },
    { name: 'status', title: t('kit.field.status'), isMinor: true, render: user => <UserStatus user={user} /> },
    {
      name: 'secondFactor',
      title: t('users.secondFactor'),
      sort: 'secondFactorAt',
      isMinor: true,
      render: user => <SecondFactorAt user={user} />,
    },
    {
      name: 'lastLogin',
      title: t('users.lastLogin'),
      sort: 'lastLoginAt',
      isMinor: true,
      render: ({ lastLoginAt }) => <When at={lastLoginAt} />,
    },
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
      title={t('users.title')}
      lead={t('users.lead')}
      actions={
        <Action call="users.create" leftSection={<PlusIcon />} onClick={open}>
          {t('users.create')}
        </Action>
      }
    >
      <FilterBar
        search={<SearchBox label={t('users.search')} value={search.q} onChange={q => change({ q })} />}
        choices={[]}
        chips={[]}
        onSet={() => undefined}
        onClear={() => change({ q: undefined })}
      />
      <RecordTable label={t('users.title')} view={view} columns={columns} nameOf={({ name }) => name} empty={null} />
      {isCreating && <CreateUser onClose={close} />}
    </Page>
  )
}

/** Whether an account can sign in, as a chip. */
export function UserStatus({ user: { blocked, emailVerified } }: { user: User }) {
  const { t } = useTranslation()
  if (blocked) return <StatusChip tone="bad">{t('users.status.blocked')}</StatusChip>
  if (!emailVerified) return <StatusChip tone="neutral">{t('users.status.unverified')}</StatusChip>
  return <StatusChip tone="good">{t('users.status.active')}</StatusChip>
}

/** When an account got its second factor, or that it has none. */
export function SecondFactorAt({ user: { secondFactorAt } }: { user: User }) {
  const { t } = useTranslation()
  return secondFactorAt ? <When at={secondFactorAt} /> : t('users.noSecondFactor')
}

/** A choice of the roles that members can have. */
export function MemberRoleSelect(props: Omit<ComponentProps<typeof RoleSelect>, 'offers'>) {
  return <RoleSelect {...props} offers={({ kind }) => kind !== 'api'} />
}

function CreateUser({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation()
  const form = useForm({ initialValues: { name: '', email: '', role: 'user', password: '' } })
  const submit = useSubmit(form, {
    send: ({ password, ...values }) => rollcall.users.create({ ...values, ...(password && { password }) }),
    done: t('users.created', { email: form.values.email }),
    onDone: onClose,
  })
  return (
    <FormModal title={t('users.create')} form={form} submit={submit} action={t('users.create')} onClose={onClose}>
      <TextInput
        label={t('kit.field.name')}
        autoComplete="off"
        data-autofocus
        {...fieldProps('users.create', 'name')}
        {...form.getInputProps('name')}
      />
      <TextInput
        label={t('kit.field.email')}
        type="email"
        autoComplete="off"
        {...fieldProps('users.create', 'email')}
        {...form.getInputProps('email')}
      />
      <MemberRoleSelect {...form.getInputProps('role')} />
      <PasswordInput
        label={t('kit.field.password')}
        description={t('users.passwordHint')}
        autoComplete="new-password"
        {...form.getInputProps('password')}
      />
    </FormModal>
  )
}
