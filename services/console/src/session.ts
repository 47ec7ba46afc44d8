import { queryOptions, useSuspenseQuery } from '@tanstack/react-query'
import { call } from './api.ts'

/** The signed-in person, their organization and rights. */
export type Me = {
  user: { _id: string; name: string; email: string; role: string }
  organization: { _id: string; name: string }
  role: string
  permissions: string[]
  impersonatedBy?: string
}

const MINUTE = 60_000

export const meQuery = queryOptions({
  queryKey: ['me'],
  queryFn: () => call<Me>('GET', '/auth/me'),
  staleTime: 5 * MINUTE,
  retry: false,
})

/** Returns the signed-in person; for components below the shell, which loads it first. */
export function useMe(): Me {
  return useSuspenseQuery(meQuery).data
}

/** Whether rights hold a permission, such as `audience.create`. */
export function holds({ permissions }: Pick<Me, 'permissions'>, permission: string): boolean {
  return permissions.includes('*') || permissions.includes(permission)
}
