import { Group, Table } from '@mantine/core'
import type { CallName, Session } from '@rollcall/sdk'
import { useTranslation } from 'react-i18next'
import { Action } from '../kit/action.tsx'
import { Tag } from '../kit/status-chip.tsx'
import { When } from '../kit/when.tsx'
import classes from '../roles/role.module.css'

/** Open sessions, each but that of this page with a button that ends it. */
export function SessionTable({
  sessions,
  call,
  onEnd,
}: {
  sessions: readonly Session[]
  /** The call that ends a session. */
  call: CallName
  onEnd: (sessionRef: string) => void
}) {
  const { t } = useTranslation()
  return (
    <Table.ScrollContainer minWidth={480} type="native" className={classes.matrix}>
      <Table aria-label={t('users.sessions')}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('users.device')}</Table.Th>
            <Table.Th>{t('users.address')}</Table.Th>
            <Table.Th>{t('users.lastActive')}</Table.Th>
            <Table.Th w={90}>
              <span className="rc-hidden">{t('kit.table.actions')}</span>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {sessions.map(({ sessionRef, device, ip, lastActiveAt, current, impersonatedBy }) => (
            <Table.Tr key={sessionRef}>
              <Table.Td>
                <Group gap="xs">
                  <strong>{device}</strong>
                  {current && <Tag>{t('users.current')}</Tag>}
                  {impersonatedBy && <Tag>{t('users.impersonated')}</Tag>}
                </Group>
              </Table.Td>
              <Table.Td>{ip}</Table.Td>
              <Table.Td>
                <When at={lastActiveAt} />
              </Table.Td>
              <Table.Td ta="right">
                {!current && (
                  <Action call={call} variant="default" size="compact-sm" onClick={() => onEnd(sessionRef)}>
                    {t('users.end')}
                  </Action>
                )}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}
