import type { Device, User } from '@rollcall/sdk'
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { Action } from '../kit/action.tsx'
import { useAct, useConfirm } from '../kit/confirm.tsx'
import { PlainTable } from '../kit/plain-table.tsx'
import { Section } from '../kit/section.tsx'
import { When } from '../kit/when.tsx'
import { SessionTable } from './session-table.tsx'
import { useRankRefusal } from './use-rank-refusal.ts'

const SHOWN = 100

/** Where an account is signed in, with buttons that end one session or all. */
export function UserSessions({ user }: { user: User }) {
  const { t } = useTranslation()
  const { _id, name } = user
  const isHigher = useRankRefusal(user)
  const act = useAct()
  const confirm = useConfirm()
  const query = useQuery({
    queryKey: ['users', _id, 'sessions'],
    queryFn: async ({ signal }) => await rollcall.users.listSessions(_id, { limit: SHOWN }, { signal }),
  })
  const others = query.data?.docs.filter(({ current }) => !current) ?? []
  const endAll = () =>
    confirm({
      title: t('users.endAllTitle', { name }),
      text: t('users.endAllText', { count: others.length }),
      action: t('users.endAll'),
      run: () => Promise.all(others.map(({ sessionRef }) => rollcall.users.revokeSession(_id, sessionRef))),
      done: t('users.endedAll', { name }),
    })
  return (
    <Section
      title={t('users.sessions')}
      action={
        others.length > 1 && (
          <Action call="users.revokeSession" variant="default" unless={isHigher} onClick={endAll}>
            {t('users.endAll')}
          </Action>
        )
      }
    >
      <SessionTable
        query={query}
        call="users.revokeSession"
        unless={isHigher}
        onEnd={sessionRef =>
          void act({ run: () => rollcall.users.revokeSession(_id, sessionRef), done: t('users.ended') })
        }
      />
    </Section>
  )
}

/** The browsers that an account signed in from. */
export function UserDevices({ user }: { user: User }) {
  const { t } = useTranslation()
  const { _id } = user
  const isHigher = useRankRefusal(user)
  const confirm = useConfirm()
  const query = useQuery({
    queryKey: ['users', _id, 'devices'],
    queryFn: async ({ signal }) => await rollcall.users.listDevices(_id, { limit: SHOWN }, { signal }),
  })
  const remove = ({ deviceId, name }: Device) =>
    confirm({
      title: t('account.devices.removeTitle', { name }),
      text: t('account.devices.removeText'),
      action: t('account.devices.remove'),
      run: () => rollcall.users.revokeDevice(_id, deviceId),
      done: t('account.devices.removed', { name }),
    })
  return (
    <Section title={t('users.devices')}>
      <PlainTable
        label={t('users.devices')}
        query={query}
        empty={t('users.noDevices')}
        columns={[
          { name: 'name', title: t('users.device'), render: ({ name }) => <strong>{name}</strong> },
          { name: 'address', title: t('users.address'), render: ({ lastIp }) => lastIp },
          { name: 'first', title: t('users.firstSeen'), render: ({ firstSeenAt }) => <When at={firstSeenAt} /> },
          { name: 'last', title: t('account.devices.lastSeen'), render: ({ lastSeenAt }) => <When at={lastSeenAt} /> },
          {
            name: 'actions',
            render: device => (
              <Action
                call="users.revokeDevice"
                variant="default"
                size="compact-sm"
                unless={isHigher}
                onClick={() => remove(device)}
              >
                {t('account.devices.remove')}
              </Action>
            ),
          },
        ]}
      />
    </Section>
  )
}
