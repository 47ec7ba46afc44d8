import type { CampaignFields, Client, Filter } from '@rollcall/sdk'
import type { Page } from 'playwright-core'

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
  { path: '/campaigns/:id', record: client => campaign(client, { status: { $in: ['paused', 'sent'] } }) },
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
  { path: '/settings?tab=provider' },
  { path: '/settings?tab=features' },
  { path: '/account' },
]

/** What stands over a screen: a dialog or a menu. It is open at once, or after these steps. */
export type Overlay = Screen & {
  name: string
  open?: (page: Page) => Promise<unknown>
  /** A form as others that tests open: only its picture is taken. */
  isAlike?: true
}

/** What an overlay is, for a search in the page. */
export const OVERLAY = '[role=dialog], [role=menu]'

const ALIKE_FORMS =
  'contacts lists attributes domains senders templates campaigns suppressions collections tokens users workspaces webhooks'

/** Overlays that no other test opens; `console.e2e.ts` checks them with axe, `npm run screens` takes their pictures. */
export const OVERLAYS: readonly Overlay[] = [
  ...ALIKE_FORMS.split(' ').map(area => ({ name: `new-${area}`, path: `/${area}?new=true`, isAlike: true as const })),
  { name: 'new-messages', path: '/messages?new=true' },
  { name: 'new-links', path: '/links?new=true' },
  pressed('new-segment', '/segments', 'New segment'),
  { name: 'help', path: '/', open: page => page.keyboard.press('?') },
  { name: 'palette', path: '/', open: page => page.keyboard.press('Control+k') },
  pressed('tasks', '/', 'Tasks'),
  pressed('account-menu', '/', /^Account menu/),
  pressed('filters', '/contacts', 'Add filter'),
  pressed('columns', '/contacts', 'Columns'),
  pressed('contact-panel', '/contacts', /beside the list$/),
  pressed('edit-contact', '/contacts/:id', 'Edit'),
  pressed('contact-menu', '/contacts/:id', /^More actions/),
  {
    ...pressed('confirmation', '/contacts/:id', /^More actions/),
    open: async page => {
      await page.getByRole('button', { name: /^More actions/ }).click()
      await page.getByRole('menuitem', { name: 'Delete contact' }).click()
    },
  },
  pressed('domain-menu', '/domains/:id', /^More actions/),
  pressed('test-sender', '/senders/:id', 'Send test'),
  pressed('share-sender', '/senders/:id', 'Share'),
  pressed('campaign-menu', '/campaigns/:id/edit/content', /^More actions/),
  pressed('variables', '/templates/:id', 'Insert variable'),
  pressed('edit-link', '/links/:id', 'Edit link'),
  pressed('add-entry', '/collections/:id', 'Add entry'),
  pressed('token-addresses', '/tokens/:id', 'Change addresses'),
  pressed('change-role', '/users/:id', 'Change role'),
  pressed('invite', '/workspaces/:id', 'Invite'),
  pressed('test-webhook', '/webhooks/:id', 'Send test'),
  pressed('recover', '/webhooks/:id', 'Recover'),
  { name: 'event', path: '/events', open: page => page.getByRole('row').nth(1).getByRole('link').first().click() },
]

/** The overlay of a screen that a button opens. */
function pressed(name: string, path: string, button: string | RegExp): Overlay {
  const exact = typeof button === 'string'
  const screen = SCREENS.find(screen => screen.path === path)
  return { ...screen!, name, open: page => page.getByRole('button', { name: button, exact }).first().click() }
}

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

function campaign(client: Client, filter: Filter<CampaignFields>): Promise<string | undefined> {
  return first(client.campaigns.list({ limit: 1, filter }))
}

async function first(page: PromiseLike<{ docs: readonly { _id: string }[] }>): Promise<string | undefined> {
  return (await page).docs[0]?._id
}
