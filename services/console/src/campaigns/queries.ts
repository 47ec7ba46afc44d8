import type { Campaign } from '@rollcall/sdk'
import { queryOptions } from '@tanstack/react-query'
import { rollcall } from '../api.ts'
import { pollWhile } from '../kit/polling.ts'

const REFRESH_MS = 2000
const ALL = 1000

/** One campaign; read again and again while it is being sent. */
export const campaignQuery = (id: string) =>
  queryOptions({
    queryKey: ['campaigns', id],
    queryFn: ({ signal }): Promise<Campaign> => rollcall.campaigns.get(id, { signal }),
    refetchInterval: pollWhile(({ status }: Campaign) => status === 'sending', REFRESH_MS),
  })

/** Every template, by name. */
export const allTemplatesQuery = queryOptions({
  queryKey: ['templates', 'all'],
  queryFn: async ({ signal }) => (await rollcall.templates.list({ limit: ALL, sort: { name: 1 } }, { signal })).docs,
})

/** Every sender that the person sees, by address. */
export const allSendersQuery = queryOptions({
  queryKey: ['senders', 'all'],
  queryFn: async ({ signal }) => (await rollcall.senders.list({ limit: ALL, sort: { email: 1 } }, { signal })).docs,
})
