import { notifications } from '@mantine/notifications'
import i18next from 'i18next'
import { isStatus, queryClient } from '../api.ts'
import { currentImpersonation, setImpersonation } from '../impersonation/store.ts'
import { router } from '../router.tsx'
import { meQuery } from '../session.ts'

/**
 * Follows what the API refuses. Without a session it leaves the screens: back to oneself, or to the sign-in page. Without
 * a permission it reads anew what the person may do.
 */
export function watchRefusals(): void {
  queryClient.getQueryCache().subscribe(event => {
    if (event.type === 'updated' && event.action.type === 'error') followRefusal(event.action.error)
  })
  queryClient.getMutationCache().subscribe(event => {
    if (event.type === 'updated' && event.action.type === 'error') followRefusal(event.action.error)
  })
}

function followRefusal(error: unknown): void {
  if (isStatus(error, 403)) void queryClient.invalidateQueries({ queryKey: meQuery.queryKey })
  if (isStatus(error, 401)) leave()
}

function leave(): void {
  if (currentImpersonation()) {
    setImpersonation(undefined)
    queryClient.removeQueries()
    notifications.show({ message: i18next.t('impersonation.ended'), color: 'yellow', role: 'status', withBorder: true })
    return
  }
  const { matches, location } = router.state
  const isSignedIn = matches.some(({ routeId }) => routeId === '/shell')
  const isLeaving = location.pathname === '/sign-in' // screens have several requests refused at once
  if (!isSignedIn || isLeaving) return
  void router.navigate({ to: '/sign-in', search: { next: location.href } }).then(() => queryClient.removeQueries())
}
