import { Group } from '@mantine/core'
import type { CallName, Session } from '@rollcall/sdk'
import { useTranslation } from 'react-i18next'
import { Action } from '../kit/action.tsx'
import { PlainTable } from '../kit/plain-table.tsx'
import { Tag } from '../kit/status-chip.tsx'
import { When } from '../kit/when.tsx'

/** Open sessions, each but that of this page with a button that ends it. */
export function SessionTable({
  query,
  call,
  unless,
  onEnd,
}: {
  query: Parameters<typeof PlainTable<Session>>[0]['query']
  /** The call that ends a session. */
  call: CallName
  /** Why none can be ended. */
  unless?: string | undefined
  onEnd: (sessionRef: string) => void
}) {
  const { t } = useTranslation()
  return (
    <PlainTable
      label={t('users.sessions')}
      query={query}
      empty={t('users.noSessions')}
      columns={[
        {
          name: 'device',
          title: t('users.device'),
          render: ({ device, current, impersonatedBy }) => (
            <Group gap="xs">
              <strong>{device}</strong>
              {current && <Tag>{t('users.current')}</Tag>}
              {impersonatedBy && <Tag>{t('users.impersonated')}</Tag>}
            </Group>
          ),
        },
        { name: 'address', title: t('users.address'), render: ({ ip }) => ip },
        { name: 'last', title: t('users.lastActive'), render: ({ lastActiveAt }) => <When at={lastActiveAt} /> },
        {
          name: 'actions',
          width: 90,
          render: ({ current, sessionRef }) =>
            !current && (
              <Action call={call} variant="default" size="compact-sm" unless={unless} onClick={() => onEnd(sessionRef)}>
                {t('users.end')}
              </Action>
            ),
        },
      ]}
    />
  )
}
