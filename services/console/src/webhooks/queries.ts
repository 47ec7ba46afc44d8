import { queryOptions } from '@tanstack/react-query'
import { rollcall } from '../api.ts'

const MINUTE = 60_000

/** The types of events, with description and example. They change with a release. */
export const eventTypesQuery = queryOptions({
  queryKey: ['webhooks', 'event-types'],
  queryFn: ({ signal }) => rollcall.webhooks.listEventTypes({ signal }),
  staleTime: 60 * MINUTE,
})

/** The deliveries of the last hours, counted by the hour. */
export function statsQuery(id: string, hours: number) {
  return queryOptions({
    queryKey: ['webhooks', id, 'stats', hours],
    queryFn: ({ signal }) => rollcall.webhooks.getStats(id, { hours }, { signal }),
    staleTime: MINUTE,
  })
}
