import { queryOptions } from '@tanstack/react-query'
import { rollcall } from '../api.ts'

const ALL = 1000

/** Every role, built-in ones first. */
export const rolesQuery = queryOptions({
  queryKey: ['roles', 'all'],
  queryFn: async ({ signal }) => (await rollcall.roles.list({ limit: ALL }, { signal })).docs,
})

/** The resources and actions that a role can grant. */
export const permissionsQuery = queryOptions({
  queryKey: ['permissions'],
  queryFn: ({ signal }) => rollcall.roles.listPermissions({ signal }),
  staleTime: Number.POSITIVE_INFINITY,
})
