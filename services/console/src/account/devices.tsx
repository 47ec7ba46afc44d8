import { Group, Skeleton, Table } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { Action } from '../kit/action.tsx'
import { useConfirm } from '../kit/confirm.tsx'
import classes from '../kit/plain-table.module.css'
import { ProblemAlert } from '../kit/problem-alert.tsx'
import { Tag } from '../kit/status-chip.tsx'
import { When } from '../kit/when.tsx'

const DEVICES = 100

/** The devices that the person signed in from, each but this one with a button that removes it. */
export function Devices() {
  const { t } = useTranslation()
  const confirm = useConfirm()
  const { data, error, refetch } = useQuery({
    queryKey: ['account', 'devices'],
    queryFn: async ({ signal }) => await rollcall.account.listDevices({ limit: DEVICES }, { signal }),
  })
  if (error) return <ProblemAlert error={error} onRetry={refetch} />
  if (!data) return <Skeleton height={80} />
  const remove = (deviceId: string, name: string) =>
    confirm({
      title: t('account.devices.removeTitle', { name }),
      text: t('account.devices.removeText'),
      action: t('account.devices.remove'),
      run: () => rollcall.account.revokeDevice(deviceId),
      done: t('account.devices.removed', { name }),
    })
  return (
    <Table.ScrollContainer minWidth={0} type="native" className={`${classes.frame} rc-stack`}>
      <Table aria-label={t('users.devices')}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('users.device')}</Table.Th>
            <Table.Th>{t('users.address')}</Table.Th>
            <Table.Th>{t('account.devices.lastSeen')}</Table.Th>
            <Table.Th w={90}>
              <span className="rc-hidden">{t('kit.table.actions')}</span>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {data.docs.map(({ deviceId, name, lastIp, lastSeenAt, current }) => (
            <Table.Tr key={deviceId}>
              <Table.Td>
                <Group gap="xs">
                  <strong>{name}</strong>
                  {current && <Tag>{t('users.current')}</Tag>}
                </Group>
              </Table.Td>
              <Table.Td>{lastIp}</Table.Td>
              <Table.Td>
                <When at={lastSeenAt} />
              </Table.Td>
              <Table.Td ta="right" data-actions>
                {!current && (
                  <Action
                    call="account.revokeDevice"
                    variant="default"
                    size="compact-sm"
                    onClick={() => remove(deviceId, name)}
                  >
                    {t('account.devices.remove')}
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
