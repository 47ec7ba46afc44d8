import type { User } from '@rollcall/sdk'
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { PlainTable } from '../kit/plain-table.tsx'
import { RecordLink } from '../kit/record-link.tsx'
import { When } from '../kit/when.tsx'

const SHOWN = 100

/** The workspaces of an account, with its role in each. */
export function UserWorkspaces({ user: { _id } }: { user: User }) {
  const { t } = useTranslation()
  const query = useQuery({
    queryKey: ['users', _id, 'workspaces'],
    queryFn: async ({ signal }) => await rollcall.users.listWorkspaces(_id, { limit: SHOWN }, { signal }),
  })
  return (
    <PlainTable
      label={t('users.tabs.workspaces')}
      query={query}
      empty={t('users.noWorkspaces')}
      columns={[
        {
          name: 'workspace',
          title: t('kit.field.name'),
          render: ({ workspace }) => (
            <RecordLink to="/workspaces/$id" params={{ id: workspace._id }} name={workspace.name} />
          ),
        },
        { name: 'role', title: t('kit.field.role'), render: ({ role }) => role },
        { name: 'joined', title: t('users.joined'), width: 180, render: ({ joinedAt }) => <When at={joinedAt} /> },
      ]}
    />
  )
}
