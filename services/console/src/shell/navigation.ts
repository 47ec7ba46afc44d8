import {
  DatabaseIcon,
  FileIcon,
  FilterIcon,
  GearIcon,
  GlobeIcon,
  HomeIcon,
  type Icon,
  InboxIcon,
  KeyIcon,
  LinkIcon,
  ListUnorderedIcon,
  LogIcon,
  MailIcon,
  MegaphoneIcon,
  NoEntryIcon,
  OrganizationIcon,
  PeopleIcon,
  PersonIcon,
  ShieldLockIcon,
  StackIcon,
  TagIcon,
  UploadIcon,
  WebhookIcon,
} from '@primer/octicons-react'
import type { CallName } from '@rollcall/sdk'
import type en from './en.ts'

/** A screen of the navigation; not shown to people who may not make its call, or any of several. */
export type Area = { name: keyof typeof en.areas; to: string; icon: Icon; call?: CallName | readonly CallName[] }

/** Whether a person may open a screen. */
export function mayOpen({ call = [] }: Area, missing: (call: CallName) => string | undefined): boolean {
  const calls = [call].flat()
  return calls.length === 0 || calls.some(each => !missing(each))
}

/** The screens, grouped as the navigation shows them. */
export const NAVIGATION: readonly { group?: keyof typeof en.groups; areas: readonly Area[] }[] = [
  { areas: [{ name: 'overview', to: '/', icon: HomeIcon }] },
  {
    group: 'audience',
    areas: [
      { name: 'contacts', to: '/contacts', icon: PeopleIcon, call: 'contacts.list' },
      { name: 'lists', to: '/lists', icon: ListUnorderedIcon, call: 'lists.list' },
      { name: 'segments', to: '/segments', icon: FilterIcon, call: 'segments.list' },
      { name: 'imports', to: '/imports', icon: UploadIcon, call: 'imports.listJobs' },
      { name: 'bulk', to: '/bulk', icon: StackIcon, call: 'bulk.listJobs' },
      { name: 'attributes', to: '/attributes', icon: TagIcon, call: 'attributes.list' },
    ],
  },
  {
    group: 'sending',
    areas: [
      { name: 'campaigns', to: '/campaigns', icon: MegaphoneIcon, call: 'campaigns.list' },
      { name: 'templates', to: '/templates', icon: FileIcon, call: 'templates.list' },
      { name: 'messages', to: '/messages', icon: InboxIcon, call: 'messages.list' },
      { name: 'suppressions', to: '/suppressions', icon: NoEntryIcon, call: 'suppressions.list' },
      { name: 'senders', to: '/senders', icon: MailIcon, call: 'senders.list' },
      { name: 'domains', to: '/domains', icon: GlobeIcon, call: 'domains.list' },
    ],
  },
  {
    group: 'content',
    areas: [
      { name: 'links', to: '/links', icon: LinkIcon, call: 'links.list' },
      { name: 'collections', to: '/collections', icon: DatabaseIcon, call: 'collections.list' },
    ],
  },
  {
    group: 'access',
    areas: [
      { name: 'tokens', to: '/tokens', icon: KeyIcon, call: 'tokens.list' },
      { name: 'roles', to: '/roles', icon: ShieldLockIcon, call: 'roles.list' },
      { name: 'users', to: '/users', icon: PersonIcon, call: 'users.list' },
      { name: 'workspaces', to: '/workspaces', icon: OrganizationIcon, call: 'workspaces.list' },
    ],
  },
  {
    group: 'organization',
    areas: [
      { name: 'webhooks', to: '/webhooks', icon: WebhookIcon, call: 'webhooks.list' },
      { name: 'events', to: '/events', icon: LogIcon, call: 'events.list' },
      { name: 'settings', to: '/settings', icon: GearIcon, call: ['settings.get', 'providers.get', 'features.list'] },
    ],
  },
]
