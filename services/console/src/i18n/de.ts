import account from '../account/de.ts'
import attributes from '../attributes/de.ts'
import bulk from '../bulk/de.ts'
import campaigns from '../campaigns/de.ts'
import collections from '../collections/de.ts'
import contacts from '../contacts/de.ts'
import domains from '../domains/de.ts'
import events from '../events/de.ts'
import growth from '../growth/de.ts'
import impersonation from '../impersonation/de.ts'
import imports from '../imports/de.ts'
import kit from '../kit/de.ts'
import links from '../links/de.ts'
import lists from '../lists/de.ts'
import messages from '../messages/de.ts'
import overview from '../overview/de.ts'
import roles from '../roles/de.ts'
import segments from '../segments/de.ts'
import senders from '../senders/de.ts'
import settings from '../settings/de.ts'
import shell from '../shell/de.ts'
import signIn from '../sign-in/de.ts'
import suppressions from '../suppressions/de.ts'
import templates from '../templates/de.ts'
import tokens from '../tokens/de.ts'
import users from '../users/de.ts'
import webhooks from '../webhooks/de.ts'
import workspaces from '../workspaces/de.ts'
import type { en } from './en.ts'
import type { Translation } from './translation.ts'

/** The German texts, by area. */
export const de = {
  account,
  attributes,
  bulk,
  campaigns,
  collections,
  contacts,
  domains,
  events,
  growth,
  impersonation,
  imports,
  kit,
  links,
  lists,
  messages,
  overview,
  roles,
  segments,
  senders,
  settings,
  shell,
  signIn,
  suppressions,
  templates,
  tokens,
  users,
  webhooks,
  workspaces,
} satisfies Translation<typeof en>
