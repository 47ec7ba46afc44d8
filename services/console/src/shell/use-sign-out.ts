import { notifications } from '@mantine/notifications'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { ownSession } from '../api.ts'
import { setImpersonation } from '../impersonation/store.ts'
import { useReports } from '../kit/problem.ts'

/** Returns the sign-out, which leaves nothing of the session on the screen or in the browser. */
export function useSignOut() {
  const navigate = useNavigate()
  const client = useQueryClient()
  const { failed } = useReports()
  return useMutation({
    mutationFn: () => ownSession.authentication.logout(),
    onSuccess: async () => {
      await navigate({ to: '/sign-in', ignoreBlocker: true })
      setImpersonation(undefined) // has ended with the session that began it
      client.clear()
      sessionStorage.clear()
      notifications.clean()
    },
    onError: failed,
  })
}
