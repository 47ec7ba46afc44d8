import type { Attribute, AudienceList, TagCount } from '@rollcall/sdk'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { rollcall } from '../api.ts'
import { useMissing } from '../session.ts'

const MINUTE = 60_000
const ALL = 1000

/** Every attribute definition. */
export const attributesQuery = queryOptions({
  queryKey: ['attributes', 'all'],
  queryFn: async ({ signal }): Promise<Attribute[]> =>
    (await rollcall.attributes.list({ limit: ALL, sort: { name: 1 } }, { signal })).docs,
  staleTime: MINUTE,
})

/** Reads every attribute definition, for people who may list them. */
export function useAttributes() {
  const missing = useMissing()
  return useQuery({ ...attributesQuery, enabled: !missing('attributes.list') })
}

/** A contact. */
export const contactQuery = (id: string) =>
  queryOptions({ queryKey: ['contacts', id], queryFn: ({ signal }) => rollcall.contacts.get(id, { signal }) })

/** The number of all contacts. */
export const allContactsQuery = queryOptions({
  queryKey: ['contacts', 'total'],
  queryFn: async ({ signal }): Promise<number> => (await rollcall.contacts.list({ limit: 1 }, { signal })).totalDocs,
})

/** The tags in use, most used first. */
export const tagsQuery = queryOptions({
  queryKey: ['tags'],
  queryFn: ({ signal }): Promise<TagCount[]> => rollcall.contacts.countTags({ signal }),
  staleTime: MINUTE,
})

/** Every list, by name. */
export const allListsQuery = queryOptions({
  queryKey: ['lists', 'all'],
  queryFn: async ({ signal }): Promise<AudienceList[]> =>
    (await rollcall.lists.list({ limit: ALL, sort: { name: 1 } }, { signal })).docs,
  staleTime: MINUTE,
})

/** The lists that take contacts, by name. */
export const openListsQuery = queryOptions({
  queryKey: ['lists', 'open'],
  queryFn: async ({ signal }): Promise<AudienceList[]> =>
    (await rollcall.lists.list({ limit: ALL, filter: { archived: false }, sort: { name: 1 } }, { signal })).docs,
  staleTime: MINUTE,
})
