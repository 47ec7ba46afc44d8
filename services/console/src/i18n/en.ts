import account from '../account/en.ts'
import attributes from '../attributes/en.ts'
import bulk from '../bulk/en.ts'
import campaigns from '../campaigns/en.ts'
import collections from '../collections/en.ts'
import contacts from '../contacts/en.ts'
import domains from '../domains/en.ts'
import events from '../events/en.ts'
import growth from '../growth/en.ts'
import impersonation from '../impersonation/en.ts'
import imports from '../imports/en.ts'
import kit from '../kit/en.ts'
import links from '../links/en.ts'
import lists from '../lists/en.ts'
import messages from '../messages/en.ts'
import overview from '../overview/en.ts'
import roles from '../roles/en.ts'
import segments from '../segments/en.ts'
import senders from '../senders/en.ts'
import settings from '../settings/en.ts'
import shell from '../shell/en.ts'
import signIn from '../sign-in/en.ts'
import suppressions from '../suppressions/en.ts'
import templates from '../templates/en.ts'
import tokens from '../tokens/en.ts'
import users from '../users/en.ts'
import webhooks from '../webhooks/en.ts'
import workspaces from '../workspaces/en.ts'

/** The English texts, by area. */
export const en = {
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
} as const
