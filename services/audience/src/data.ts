import type { Call } from '@rollcall/rpc'
import type { Logger } from '@rollcall/runtime'
import { type Scope, type Store, scoped } from '@rollcall/store'
import type { Model } from 'mongoose'
import { type Attribute, attributeSchema } from './attributes/attribute.model.ts'
import { type Batch, batchSchema } from './batches/batch.model.ts'
import { type Contact, contactSchema } from './contacts/contact.model.ts'
import { type ContactEmail, contactEmailSchema } from './emails/contact-email.model.ts'
import { type HistoryEntry, historySchema } from './history/history.model.ts'
import { type AudienceList, listSchema } from './lists/list.model.ts'
import { type ListJob, listJobSchema } from './lists/list-job.model.ts'
import { type Membership, membershipSchema } from './lists/membership.model.ts'

/** The collections of the audience. */
export type Models = {
  contacts: Model<Contact>
  attributes: Model<Attribute>
  history: Model<HistoryEntry>
  emails: Model<ContactEmail>
  batches: Model<Batch>
  lists: Model<AudienceList>
  memberships: Model<Membership>
  listJobs: Model<ListJob>
}

/** The collections as one organization sees them. */
export type Collections = {
  contacts: Scope<Contact>
  attributes: Scope<Attribute>
  history: Scope<HistoryEntry>
  emails: Scope<ContactEmail>
  batches: Scope<Batch>
  lists: Scope<AudienceList>
  memberships: Scope<Membership>
  listJobs: Scope<ListJob>
}

/** The audience's data, and what it takes to work with it. */
export type Data = {
  store: Store
  models: Models
  logger: Logger
  /** The collections as the caller's organization sees them. */
  of(caller: Pick<Call['caller'], 'organizationId'>): Collections
}

/** Declares the collections, and gives each organization its view of them. */
export function createData(store: Store, logger: Logger): Data {
  const models: Models = {
    contacts: store.model('Contact', contactSchema),
    attributes: store.model('Attribute', attributeSchema),
    history: store.model('HistoryEntry', historySchema),
    emails: store.model('ContactEmail', contactEmailSchema),
    batches: store.model('Batch', batchSchema),
    lists: store.model('AudienceList', listSchema),
    memberships: store.model('Membership', membershipSchema),
    listJobs: store.model('ListJob', listJobSchema),
  }
  return {
    store,
    models,
    logger,
    of: ({ organizationId }) => ({
      contacts: scoped(models.contacts, organizationId),
      attributes: scoped(models.attributes, organizationId),
      history: scoped(models.history, organizationId),
      emails: scoped(models.emails, organizationId),
      batches: scoped(models.batches, organizationId),
      lists: scoped(models.lists, organizationId),
      memberships: scoped(models.memberships, organizationId),
      listJobs: scoped(models.listJobs, organizationId),
    }),
  }
}
