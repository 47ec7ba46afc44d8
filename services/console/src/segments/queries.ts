import { queryOptions } from '@tanstack/react-query'
import { rollcall } from '../api.ts'

const ALL = 1000

/** Every segment, by name. */
export const allSegmentsQuery = queryOptions({
  queryKey: ['segments', 'all'],
  queryFn: async ({ signal }) => (await rollcall.segments.list({ limit: ALL, sort: { name: 1 } }, { signal })).docs,
})
