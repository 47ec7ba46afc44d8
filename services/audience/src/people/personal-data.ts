import type { Person, PersonalDataOf } from '@rollcall/service'
import { objectId, rewriteRowGroup } from '@rollcall/store'
import { FAILED_VALUES_KEPT } from '../batches/batch.model.ts'
import type { BulkJob } from '../bulk/bulk-job.model.ts'
import type { Collections, Tenant } from '../collections.ts'
import { columnData } from '../contacts/columns.job.ts'
import { publicContact } from '../contacts/contact.model.ts'
import type { Context } from '../context.ts'
import { presentEmail } from '../emails/emails.ts'
import type { HistoryEntry } from '../history/history.model.ts'
import { presentEntry } from '../history/history.ts'
import { namesOf } from '../lists/contact-lists.ts'

/** What the collections hold of contacts. The job that erases one has deleted the contact itself (`takePerson`). */
export const personalData: PersonalDataOf<Collections, Context> = {
  contacts: {
    holds: 'addresses, names, attributes and tags',
    kept: 'until it is deleted',
    shown: {
      section: 'contact',
      needs: 'audience.read',
      async *find(context, person) {
        yield* (await tenantOf(context, person).contacts.find({ _id: person.contactId })).map(publicContact)
      },
    },
    erase: { kept: 'the job has deleted it; another contact may have the address by now' },
  },
  attributes: 'none',
  history: {
    holds: 'former addresses, names and attributes; activities and proofs of consent',
    kept: 'with the contact; after a deletion in bulk as long as an undo is possible',
    shown: {
      section: 'history',
      needs: 'audience.read',
      async *find(context, person) {
        const ofContact = { person: objectId(person.contactId) }
        const entries = tenantOf(context, person).history.stream<HistoryEntry>([
          { $match: ofContact },
          { $sort: { at: 1, _id: 1 } },
        ])
        for await (const entry of entries) yield presentEntry(entry)
      },
    },
    erase: async (context, person) =>
      (await tenantOf(context, person).history.deleteMany({ person: person.contactId })).deletedCount,
  },
  emails: {
    holds: 'addresses and subjects of emails to contacts',
    kept: 'with the contact; after a deletion in bulk as long as an undo is possible',
    shown: {
      section: 'emails',
      needs: 'audience.read',
      async *find(context, person) {
        yield* (await tenantOf(context, person).emails.find({ contact: person.contactId })).map(presentEmail)
      },
    },
    erase: async (context, person) =>
      (await tenantOf(context, person).emails.deleteMany({ contact: person.contactId })).deletedCount,
  },
  batches: {
    holds: 'values of rows that an import could not apply',
    kept: FAILED_VALUES_KEPT,
    erase: eraseFailedValues,
  },
  bulkJobs: { holds: 'addresses and filters that select contacts', kept: '30 days', erase: eraseSelections },
  bulkTraces: {
    holds: 'former values of contacts, and deleted contacts, for an undo',
    kept: '8 days',
    erase: eraseTraces,
  },
  lists: 'none',
  memberships: {
    holds: 'which contacts are on which lists',
    kept: 'with the contact and the list',
    shown: { section: 'lists', needs: 'audience.read', find: listsOf },
    erase: { kept: 'they are deleted with the contact' },
  },
  listJobs: 'none',
  segments: { holds: 'filters that select contacts', kept: 'until it is deleted', erase: eraseSegmentFilters },
  growth: 'none',
  rowGroups: 'none',
  columnChunks: {
    holds: 'names, addresses and other fields of contacts, by column',
    kept: 'minutes longer than the contact',
    erase: rewriteColumns,
  },
  staleRows: 'none',
  holds: {
    holds: 'addresses and contacts whose mail is handed over',
    kept: 'a minute',
    erase: { kept: 'it ends before the erasure' },
  },
  erasedAddresses: {
    holds: 'keyed hashes of erased addresses that had opted out',
    kept: 'until the address subscribes again',
    erase: { kept: 'an opt-out lasts' },
  },
}

function tenantOf({ collections }: Pick<Context, 'collections'>, { organizationId }: Person): Tenant {
  return collections.of(organizationId)
}

async function* listsOf(context: Context, person: Person): AsyncGenerator<object> {
  const { memberships, lists } = tenantOf(context, person)
  const joined = await memberships.find({ contact: person.contactId })
  const names = await namesOf(lists, joined)
  for (const { list, addedAt, addedBy, source } of joined)
    yield { list: { _id: String(list), name: names.get(String(list))?.name ?? null }, addedAt, addedBy, source }
}

async function eraseFailedValues(context: Context, person: Person): Promise<number> {
  const { batches } = tenantOf(context, person)
  let erased = 0
  for (const { _id, failures } of await batches.find(person.mayBeNamedIn('failures.value'), {
    projection: { failures: 1 },
  })) {
    const { modifiedCount } = await batches.updateOne({ _id }, { $set: { failures: person.without(failures) } })
    erased += modifiedCount
  }
  return erased
}

/** Takes the person out of what selects contacts, and out of samples and errors. */
async function eraseSelections(context: Context, person: Person): Promise<number> {
  const { bulkJobs } = tenantOf(context, person)
  const { contactId, emailKeys } = person
  const isHere = { $or: [{ values: { $in: emailKeys } }, { 'result.sample.contact': contactId }] }
  const jobs: BulkJob[] = [
    ...(await bulkJobs.find(isHere)),
    ...(await bulkJobs.find({ $or: [person.mayBeNamedIn('filter'), person.mayBeNamedIn('change')] })),
  ]
  for (const { _id, values, filter, change, result } of jobs) {
    const sample = result.sample.filter(({ contact }) => contact !== contactId)
    // Replaced and not removed: `cursor` counts them.
    const without = { values: values.map(value => (emailKeys.includes(value) ? '' : value)), 'result.sample': sample }
    const texts = { filter: person.without(filter), change: person.without(change) }
    await bulkJobs.updateOne({ _id }, { $set: { ...without, ...texts } }, { timestamps: false })
  }
  return new Set(jobs.map(({ _id }) => String(_id))).size
}

/** Erases what bulk jobs did to the contact, and contacts of its addresses that they deleted: an undo would restore those. */
async function eraseTraces(context: Context, person: Person): Promise<number> {
  const { bulkTraces, history, emails } = tenantOf(context, person)
  const erased = await context.store.transaction(async tx => {
    const deleted = { 'deleted.contact.emailKey': { $in: person.emailKeys } }
    const found = await bulkTraces.find(deleted, { tx, projection: { contact: 1 } })
    const contacts = found.map(({ contact }) => contact)
    const results = [
      await history.deleteMany({ person: { $in: contacts } }, { tx }),
      await emails.deleteMany({ contact: { $in: contacts } }, { tx }),
      await bulkTraces.deleteMany({ _id: { $in: found.map(({ _id }) => _id) } }, { tx }),
    ]
    return results.reduce((sum, { deletedCount }) => sum + deletedCount, 0)
  })
  // Reads all traces of the organization, which can take longer than a transaction.
  return erased + (await bulkTraces.deleteMany({ contact: person.contactId })).deletedCount
}

/** Writes the columns anew that were written before the contact was deleted. */
async function rewriteColumns(context: Context, person: Person): Promise<number> {
  const data = columnData(context, person.organizationId)
  const stale = await data.staleRows.find({}, { projection: { group: 1 } })
  const groups = new Set(stale.map(({ group }) => group))
  for (const group of groups) while (!(await rewriteRowGroup(data, group))); // another rewrite may be older
  return groups.size
}

/** A filter by an erased address finds nobody, before and after. */
async function eraseSegmentFilters(context: Context, person: Person): Promise<number> {
  const { segments } = tenantOf(context, person)
  const found = await segments.find(person.mayBeNamedIn('filter'))
  for (const { _id, filter } of found)
    await segments.updateOne({ _id }, { $set: { filter: person.without(filter) } }, { timestamps: false })
  return found.length
}
