import { queryOptions, useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { Action } from '../kit/action.tsx'
import { useAct, useConfirm } from '../kit/confirm.tsx'
import { SessionTable } from '../users/session-table.tsx'

const SESSIONS = 100

const sessionsQuery = queryOptions({
  queryKey: ['account', 'sessions'],
  queryFn: async ({ signal }) => await rollcall.account.listSessions({ limit: SESSIONS }, { signal }),
})

/** The own sessions. */
export function Sessions() {
  const { t } = useTranslation()
  const act = useAct()
  const query = useQuery(sessionsQuery)
  return (
    <SessionTable
      query={query}
      call="account.revokeSession"
      onEnd={sessionRef => void act({ run: () => rollcall.account.revokeSession(sessionRef), done: t('users.ended') })}
    />
  )
}

/** A button that ends all own sessions but this one. */
export function EndOthers() {
  const { t } = useTranslation()
  const confirm = useConfirm()
  const { data } = useQuery(sessionsQuery)
  if (!data || data.totalDocs < 2) return null
  return (
    <Action
      call="account.revokeOtherSessions"
      variant="default"
      onClick={() =>
        confirm({
          title: t('account.sessions.endOthersTitle'),
          text: t('account.sessions.endOthersText'),
          action: t('account.sessions.endOthers'),
          run: () => rollcall.account.revokeOtherSessions(),
          done: t('account.sessions.endedOthers'),
        })
      }
    >
      {t('account.sessions.endOthers')}
    </Action>
  )
}
