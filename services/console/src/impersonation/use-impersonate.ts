import type { User } from '@rollcall/sdk'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { isStatus, rollcall } from '../api.ts'
import { useMe } from '../session.ts'
import { currentImpersonation, setImpersonation } from './store.ts'

/** Returns a function that begins to see the console as another user does. */
export function useImpersonate(): (user: User, reason: string) => Promise<void> {
  const { user: self } = useMe()
  const client = useQueryClient()
  const navigate = useNavigate()
  return async (user, reason) => {
    const begun = await rollcall.authentication.impersonate({ userId: user._id, ...(reason && { reason }) })
    setImpersonation({ ...begun, by: self.name })
    client.removeQueries()
    await navigate({ to: '/', ignoreBlocker: true })
  }
}

/** Returns a function that becomes oneself again: ends the session at the server, unless it ended already. */
export function useStopImpersonating(): () => Promise<void> {
  const client = useQueryClient()
  const navigate = useNavigate()
  return async () => {
    const ended = currentImpersonation()
    if (!ended) return
    setImpersonation(undefined)
    client.removeQueries()
    await navigate({ to: '/users/$id', params: { id: ended.user._id }, ignoreBlocker: true })
    try {
      await rollcall.users.revokeSession(ended.user._id, ended.sessionRef)
    } catch (error) {
      if (!isStatus(error, 404)) throw error
    }
  }
}
