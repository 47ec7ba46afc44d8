import { Group } from '@mantine/core'
import { PlusIcon } from '@primer/octicons-react'
import type { Role } from '@rollcall/sdk'
import { useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { Action } from '../kit/action.tsx'
import { Page } from '../kit/page.tsx'
import { RecordLink } from '../kit/record-link.tsx'
import { type Column, RecordTable } from '../kit/record-table.tsx'
import { Tag } from '../kit/status-chip.tsx'
import { useCreateKey } from '../kit/use-creating.ts'
import { useList } from '../kit/use-list.ts'
import en from './en.ts'

/** Built-in and custom roles. */
export function Roles() {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const create = () => void navigate({ to: '/roles/new' })
  useCreateKey('roles.save', create)
  const view = useList<Role>(['roles'], ['name'], rollcall.roles.list)
  const columns: Column<Role>[] = [
    {
      name: 'name',
      title: t('kit.field.name'),
      sort: 'name',
      render: ({ name, description, builtIn }) => (
        <Group gap="xs" wrap="nowrap">
          <RecordLink
            to="/roles/$id"
            params={{ id: name }}
            name={name}
            detail={
              builtIn && name in en.builtIns ? t(`roles.builtIns.${name as keyof typeof en.builtIns}`) : description
            }
          />
          {builtIn && <Tag>{t('roles.builtIn')}</Tag>}
        </Group>
      ),
    },
    { name: 'kind', title: t('kit.field.kind'), isMinor: true, render: ({ kind }) => t(`roles.kinds.${kind}`) },
    { name: 'tokens', title: t('roles.tokens'), align: 'right', width: 100, render: ({ tokenCount }) => tokenCount },
    {
      name: 'members',
      title: t('roles.members'),
      align: 'right',
      width: 110,
      render: ({ memberCount }) => memberCount,
    },
  ]
  return (
    <Page
      title={t('roles.title')}
      lead={t('roles.lead')}
      actions={
        <Action call="roles.save" leftSection={<PlusIcon />} onClick={create}>
          {t('roles.new')}
        </Action>
      }
    >
      <RecordTable label={t('roles.title')} view={view} columns={columns} nameOf={({ name }) => name} empty={null} />
    </Page>
  )
}
