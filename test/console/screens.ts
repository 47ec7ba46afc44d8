import type { Campaign, Client } from '@rollcall/sdk'

/** A screen of the console. One with `record` is shown for the first record that this finds; `:id` stands for it. */
export type Screen = {
  /** Path below `/console`. */
  path: string
  record?: (client: Client) => Promise<string | undefined>
  /** Shown without a session. */
  isPublic?: true
}

/** Every screen; `console.e2e.ts` checks them with axe, `npm run screens` takes their pictures. */
export const SCREENS: readonly Screen[] = [
  { path: '/sign-in', isPublic: true },
  { path: '/set-password?token=unknown', isPublic: true },
  { path: '/verify-email?token=unknown', isPublic: true },
  { path: '/invitations/unknown', isPublic: true },
  { path: '/' },
  { path: '/contacts' },
  { path: '/contacts/:id', record: client => first(client.contacts.list({ limit: 1 })) },
  { path: '/lists' },
  { path: '/lists/:id', record: client => first(client.lists.list({ limit: 1 })) },
  { path: '/segments' },
  { path: '/imports' },
  { path: '/imports/new' },
  { path: '/imports/:id', record: client => first(client.imports.listJobs({ limit: 1 })) },
  { path: '/bulk' },
  { path: '/bulk/:id', record: client => first(client.bulk.listJobs({ limit: 1 })) },
  { path: '/attributes' },
  { path: '/domains' },
  { path: '/domains/:id', record: client => first(client.domains.list({ limit: 1, sort: { status: 1 } })) },
  { path: '/senders' },
  { path: '/senders/:id', record: client => first(client.senders.list({ limit: 1 })) },
  { path: '/campaigns' },
  { path: '/campaigns/:id', record: client => campaign(client, { status: 'paused' }) },
  ...['content', 'audience', 'sender', 'review'].map(step => ({
    path: `/campaigns/:id/edit/${step}`,
    record: (client: Client) => campaign(client, { status: 'draft' }),
  })),
  { path: '/templates' },
  { path: '/templates/:id', record: client => first(client.templates.list({ limit: 1 })) },
  { path: '/messages' },
  { path: '/suppressions' },
  { path: '/links' },
  { path: '/links/:id', record: client => first(client.links.list({ limit: 1 })) },
  { path: '/collections' },
  { path: '/collections/:id', record: client => first(client.collections.list({ limit: 1 })) },
  { path: '/collections/:id?tab=form', record: client => first(client.collections.list({ limit: 1 })) },
  { path: '/tokens' },
  { path: '/tokens/:id', record: client => first(client.tokens.list({ limit: 1, sort: { lastUsedAt: -1 } })) },
  { path: '/roles' },
  { path: '/roles/new' },
  { path: '/roles/user' },
  { path: '/users' },
  { path: '/users/:id', record: client => first(client.users.list({ limit: 1, sort: { role: 1 } })) },
  { path: '/workspaces' },
  { path: '/workspaces/:id', record: client => first(client.workspaces.list({ limit: 1 })) },
  { path: '/webhooks' },
  // One type, so that new ones leave what is recorded as it is.
  { path: '/webhooks/event-types?q=list.deleted' },
  { path: '/webhooks/:id', record: client => first(client.webhooks.list({ limit: 1 })) },
  { path: '/events?filter={"subject.id":":id"}', record: client => first(client.lists.list({ limit: 1 })) },
  { path: '/settings' },
  { path: '/account' },
]

/** Returns the path of a screen with the id of its record, undefined if there is no such record. */
export async function pathOf({ path, record }: Screen, client: Client): Promise<string | undefined> {
  if (!record) return path
  const id = await record(client)
  return id && path.replace(':id', id)
}

/** Returns the name of a screen for files: `contacts-id`, `collections-id-form` of a tab. */
export function nameOf({ path }: Screen): string {
  return path.replace('?tab=', '-').replace(/\?.*/, '').replace(/\W+/g, '-').replace(/^-/, '') || 'overview'
}

function campaign(client: Client, filter: { status: Campaign['status'] }): Promise<string | undefined> {
  return first(client.campaigns.list({ limit: 1, filter }))
}

async function first(page: PromiseLike<{ docs: readonly { _id: string }[] }>): Promise<string | undefined> {
  return (await page).docs[0]?._id
}
