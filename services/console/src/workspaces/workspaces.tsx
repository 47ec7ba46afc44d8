import { NumberInput, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { OrganizationIcon, PlusIcon } from '@primer/octicons-react'
import type { Workspace } from '@rollcall/sdk'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { Action } from '../kit/action.tsx'
import { Empty } from '../kit/empty.tsx'
import { FormModal, fieldProps, useSubmit } from '../kit/form-modal.tsx'
import { Page } from '../kit/page.tsx'
import { RecordLink } from '../kit/record-link.tsx'
import { type Column, RecordTable } from '../kit/record-table.tsx'
import { useCreating } from '../kit/use-creating.ts'
import { useList } from '../kit/use-list.ts'
import { When } from '../kit/when.tsx'

/** The workspaces. */
export function Workspaces() {
  const { t } = useTranslation()
  const { isCreating, open, close } = useCreating('workspaces.create')
  const view = useList<Workspace>(['workspaces'], ['name'], rollcall.workspaces.list)
  const columns: Column<Workspace>[] = [
    {
      name: 'name',
      title: t('kit.field.name'),
      sort: 'name',
      render: ({ _id, name }) => <RecordLink to="/workspaces/$id" params={{ id: _id }} name={name} />,
    },
    {
      name: 'members',
      title: t('workspaces.members'),
      align: 'right',
      width: 120,
      render: ({ memberCount }) => memberCount,
    },
    {
      name: 'seats',
      title: t('workspaces.seats'),
      align: 'right',
      width: 140,
      render: ({ seats }) => seats ?? t('workspaces.unlimited'),
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
    <Action call="workspaces.create" leftSection={<PlusIcon />} onClick={open}>
      {t('workspaces.create')}
    </Action>
  )
  return (
    <Page title={t('workspaces.title')} lead={t('workspaces.lead')} actions={create}>
      <RecordTable
        label={t('workspaces.title')}
        view={view}
        columns={columns}
        nameOf={({ name }) => name}
        empty={
          <Empty icon={OrganizationIcon} title={t('workspaces.empty.title')} action={create}>
            {t('workspaces.empty.text')}
          </Empty>
        }
      />
      {isCreating && <CreateWorkspace onClose={close} />}
    </Page>
  )
}

function CreateWorkspace({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation()
  const form = useForm({ initialValues: { name: '', seats: '' as number | string } })
  const submit = useSubmit(form, {
    send: ({ name, seats }) => rollcall.workspaces.create({ name, seats: seats === '' ? null : Number(seats) }),
    done: t('workspaces.created', { name: form.values.name }),
    onDone: onClose,
  })
  return (
    <FormModal
      title={t('workspaces.create')}
      form={form}
      submit={submit}
      action={t('workspaces.create')}
      onClose={onClose}
    >
      <TextInput
        label={t('kit.field.name')}
        data-autofocus
        {...fieldProps('workspaces.create', 'name')}
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
