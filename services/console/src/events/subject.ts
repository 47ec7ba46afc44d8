import type { EventSubject } from '@rollcall/sdk'
import type { LinkProps } from '@tanstack/react-router'

type Place = { to: NonNullable<LinkProps['to']>; params?: { id: string } }

const PLACES: Record<string, NonNullable<LinkProps['to']>> = {
  contact: '/contacts/$id',
  list: '/lists/$id',
  segment: '/segments/$id',
  import: '/imports/$id',
  domain: '/domains/$id',
  sender: '/senders/$id',
  token: '/tokens/$id',
  user: '/users/$id',
  workspace: '/workspaces/$id',
  webhook: '/webhooks/$id',
}

/** Returns the screen of the record that an event is about; undefined if it has none. */
export function placeOf({ kind, id, name }: EventSubject): Place | undefined {
  if (kind === 'settings') return { to: '/settings' }
  if (kind === 'role') return name === null ? undefined : { to: '/roles/$id', params: { id: name } }
  const to = PLACES[kind]
  return to && { to, params: { id } }
}
