import type { EventSubject } from '@rollcall/sdk'
import type { LinkProps } from '@tanstack/react-router'
import type { ListSearch } from '../kit/list-search.ts'

type Place = { to: NonNullable<LinkProps['to']>; params?: { id: string }; search?: ListSearch }

const PLACES: Record<string, NonNullable<LinkProps['to']>> = {
  contact: '/contacts/$id',
  list: '/lists/$id',
  segment: '/segments/$id',
  import: '/imports/$id',
  bulk_job: '/bulk/$id',
  domain: '/domains/$id',
  sender: '/senders/$id',
  token: '/tokens/$id',
  user: '/users/$id',
  workspace: '/workspaces/$id',
  webhook: '/webhooks/$id',
  template: '/templates/$id',
  link: '/links/$id',
  collection: '/collections/$id',
}

/** Kinds of records without a screen of their own, with the screen that lists them. */
const LISTS: Record<string, Place> = {
  settings: { to: '/settings' },
  feature: { to: '/settings', search: { tab: 'features' } },
  attribute: { to: '/attributes' },
  suppression: { to: '/suppressions' },
}

/** Returns the screen of the record that an event is about; undefined if it has none. */
export function placeOf({ kind, id, name }: EventSubject): Place | undefined {
  const list = LISTS[kind]
  if (list) return list
  if (kind === 'role') return name === null ? undefined : { to: '/roles/$id', params: { id: name } }
  const to = PLACES[kind]
  return to && { to, params: { id } }
}
