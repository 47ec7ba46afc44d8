// Generated from the protos by `npm run generate`. Do not edit.

import type { Attributes, Batches, Bulk, Contacts, Lists, Recipients, Segments, SignUps } from './audience-v1.ts'
import type { Campaigns, TemplateContents, Templates, Uses } from './campaigns-v1.ts'
import type { Collections, Entries, Forms, Links } from './content-v1.ts'
import type { Account, Authentication, Credentials, Directory, Features, Invitations, Members, Organizations, Origins, Roles, Settings, Tokens, TokenUsage, Users, Workspaces } from './identity-v1.ts'
import type { Imports } from './import-v1.ts'
import type { Domains, Mail, Mailings, Messages, Pages, Providers, Senders, Suppressions } from './messaging-v1.ts'
import type { People } from './people-v1.ts'
import type { Deliveries, Events, Webhooks } from './webhooks-v1.ts'

/** Every gRPC service by its full name. */
export type Services = {
  'rollcall.audience.v1.Attributes': Attributes
  'rollcall.audience.v1.Batches': Batches
  'rollcall.audience.v1.Bulk': Bulk
  'rollcall.audience.v1.Contacts': Contacts
  'rollcall.audience.v1.Lists': Lists
  'rollcall.audience.v1.Recipients': Recipients
  'rollcall.audience.v1.Segments': Segments
  'rollcall.audience.v1.SignUps': SignUps
  'rollcall.campaigns.v1.Campaigns': Campaigns
  'rollcall.campaigns.v1.TemplateContents': TemplateContents
  'rollcall.campaigns.v1.Templates': Templates
  'rollcall.campaigns.v1.Uses': Uses
  'rollcall.content.v1.Collections': Collections
  'rollcall.content.v1.Entries': Entries
  'rollcall.content.v1.Forms': Forms
  'rollcall.content.v1.Links': Links
  'rollcall.identity.v1.Account': Account
  'rollcall.identity.v1.Authentication': Authentication
  'rollcall.identity.v1.Credentials': Credentials
  'rollcall.identity.v1.Directory': Directory
  'rollcall.identity.v1.Features': Features
  'rollcall.identity.v1.Invitations': Invitations
  'rollcall.identity.v1.Members': Members
  'rollcall.identity.v1.Organizations': Organizations
  'rollcall.identity.v1.Origins': Origins
  'rollcall.identity.v1.Roles': Roles
  'rollcall.identity.v1.Settings': Settings
  'rollcall.identity.v1.Tokens': Tokens
  'rollcall.identity.v1.TokenUsage': TokenUsage
  'rollcall.identity.v1.Users': Users
  'rollcall.identity.v1.Workspaces': Workspaces
  'rollcall.import.v1.Imports': Imports
  'rollcall.messaging.v1.Domains': Domains
  'rollcall.messaging.v1.Mail': Mail
  'rollcall.messaging.v1.Mailings': Mailings
  'rollcall.messaging.v1.Messages': Messages
  'rollcall.messaging.v1.Pages': Pages
  'rollcall.messaging.v1.Providers': Providers
  'rollcall.messaging.v1.Senders': Senders
  'rollcall.messaging.v1.Suppressions': Suppressions
  'rollcall.people.v1.People': People
  'rollcall.webhooks.v1.Deliveries': Deliveries
  'rollcall.webhooks.v1.Events': Events
  'rollcall.webhooks.v1.Webhooks': Webhooks
}
