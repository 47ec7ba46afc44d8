import type { EventTypeDescription } from '@rollcall/sdk'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { useEventWords } from '../events/use-event-words.ts'

const MINUTE = 60_000

/** The types of events, with description and example. They change with a release. */
export const eventTypesQuery = queryOptions({
  queryKey: ['webhooks', 'event-types'],
  queryFn: ({ signal }) => rollcall.webhooks.listEventTypes({ signal }),
  staleTime: 60 * MINUTE,
})

/** Returns the types of events with descriptions in the person's language: those of the API are English. */
export function useEventTypes() {
  const { i18n } = useTranslation()
  const { typeName } = useEventWords()
  const isEnglish = i18n.language === 'en'
  return useQuery({
    ...eventTypesQuery,
    select: (types: EventTypeDescription[]) =>
      isEnglish ? types : types.map(each => ({ ...each, description: typeName(each.type) })),
  })
}

/** The deliveries of the last hours, counted by the hour. */
export function statsQuery(id: string, hours: number) {
  return queryOptions({
    queryKey: ['webhooks', id, 'stats', hours],
    queryFn: ({ signal }) => rollcall.webhooks.getStats(id, { hours }, { signal }),
    staleTime: MINUTE,
  })
}
