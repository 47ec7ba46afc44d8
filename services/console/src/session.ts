import { type CallName, type Me, routes } from '@rollcall/sdk'
import { queryOptions, useSuspenseQuery } from '@tanstack/react-query'
import { isStatus, queryClient, rollcall } from './api.ts'

const MINUTE = 60_000

/** The signed-in person, their organization and rights. */
export const meQuery = queryOptions({
  queryKey: ['me'],
  queryFn: async ({ client, queryKey, signal }) => {
    const me = await rollcall.account.get({ signal })
    const known = client.getQueryData<Me>(queryKey)
    // Somebody else has signed in, in another tab.
    if (known && known.user._id !== me.user._id)
      client.removeQueries({ predicate: query => query.queryKey[0] !== queryKey[0] })
    return me
  },
  staleTime: 5 * MINUTE,
  refetchOnWindowFocus: 'always', // rights may have changed meanwhile
})

/** Returns the signed-in person; for components below the shell, which loads it first. */
export function useMe(): Me {
  return useSuspenseQuery(meQuery).data
}

/** Whether the session of the person on the screen has ended. */
export function isSessionOver(): boolean {
  const state = queryClient.getQueryState<Me>(meQuery.queryKey)
  return state?.data !== undefined && isStatus(state.error, 401)
}

/** Returns whether the session has ended, and renders again when that changes. */
export function useIsSessionOver(): boolean {
  return isStatus(useSuspenseQuery(meQuery).error, 401)
}

/** Reads the person again after a refusal: a permission may be lost, or the session over. */
export function followRefusal(error: unknown): void {
  if (isStatus(error, 403)) void queryClient.invalidateQueries({ queryKey: meQuery.queryKey })
  if (isStatus(error, 401) && !isSessionOver())
    void queryClient.refetchQueries({ queryKey: meQuery.queryKey }, { cancelRefetch: false })
}

/** Returns a test for the permissions of a call: undefined if the person holds them, else the first that is missing. */
export function useMissing(): (call: CallName) => string | undefined {
  const me = useMe()
  return call => missingFor(me, call)
}

/** Returns the first permission of a call that is missing, undefined if none is. */
export function missingFor({ permissions }: Pick<Me, 'permissions'>, call: CallName): string | undefined {
  if (permissions.includes('*')) return undefined
  return routes[call].permissions.find(permission => !permissions.includes(permission))
}
