import { queryOptions } from '@tanstack/react-query'
import { rollcall } from '../api.ts'

const ALL = 1000

/** The mail provider of the organization. */
export const providerQuery = queryOptions({
  queryKey: ['provider'],
  queryFn: ({ signal }) => rollcall.providers.get({ signal }),
})

/** Every feature. */
export const featuresQuery = queryOptions({
  queryKey: ['features', 'all'],
  queryFn: async ({ signal }) => await rollcall.features.list({ limit: ALL, sort: { name: 1 } }, { signal }),
})
