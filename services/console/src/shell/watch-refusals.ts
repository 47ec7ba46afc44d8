import { notifications } from '@mantine/notifications'
import i18next from 'i18next'
import { isStatus, queryClient } from '../api.ts'
import { currentImpersonation, setImpersonation } from '../impersonation/store.ts'
import { router } from '../router.tsx'
import { followRefusal, isSessionOver, meQuery } from '../session.ts'

/**
 * Follows what the API refuses. At the end of a session, an impersonation becomes oneself again, a screen stays under the
 * sign-in, and the start leads to the sign-in page. Without a permission it reads anew what the person may do.
 */
export function watchRefusals(): void {
  queryClient.getQueryCache().subscribe(event => {
    if (event.type === 'updated' && event.action.type === 'error') follow(event.action.error)
  })
  queryClient.getMutationCache().subscribe(event => {
    if (event.type === 'updated' && event.action.type === 'error') follow(event.action.error)
  })
  window.addEventListener('keydown', keepFromScreen, { capture: true }) // before any that screens add
}

function follow(error: unknown): void {
  const isOneself = queryClient.getQueryData(meQuery.queryKey) && !currentImpersonation()
  if (isStatus(error, 401) && !isOneself) followEnd()
  else followRefusal(error)
}

function followEnd(): void {
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
  void router
    .navigate({ to: '/sign-in', search: { next: location.href }, ignoreBlocker: true })
    .then(() => queryClient.removeQueries())
}

/** Keeps shortcuts and Escape from the screen under the sign-in. */
function keepFromScreen(event: KeyboardEvent): void {
  const isTyped = event.target instanceof HTMLInputElement && !event.ctrlKey && !event.metaKey && event.key !== 'Escape'
  if (isSessionOver() && !isTyped && event.key !== 'Tab') event.stopImmediatePropagation()
}
