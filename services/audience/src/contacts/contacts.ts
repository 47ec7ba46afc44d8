import { json } from '@rollcall/contract'
import type { Handlers } from '@rollcall/rpc'
import { castAttributes, pathOf } from '../attributes/attribute-values.ts'
import { readDefinitions } from '../attributes/definitions.ts'
import type { Context } from '../context.ts'
import { listEmails } from '../emails/emails.ts'
import { getGrowth } from '../growth/get-growth.ts'
import { listActivities, listAttributesHistory, listTimeline } from '../history/history.ts'
import { listContactLists } from '../lists/contact-lists.ts'
import { downloadContactData } from '../people/contact-data.ts'
import { eraseContact } from '../people/erase-contact.ts'
import { contactChanger } from './change-contact.ts'
import { distinctTags } from './changes.ts'
import { publicContact } from './contact.model.ts'
import { sampleCsv } from './contact-csv.ts'
import { countTags } from './count-tags.ts'
import { contactCreator } from './create-contact.ts'
import { contactDeleter } from './delete-contact.ts'
import { userLinker } from './link-user.ts'
import { exportContacts, listContacts } from './list-contacts.ts'

/** The use cases of contacts. The gateway has checked requests against the rules of the contract. */
export function contacts(context: Context): Handlers<'rollcall.audience.v1.Contacts'> {
  const create = contactCreator(context)
  const change = contactChanger(context)
  const remove = contactDeleter(context)
  return {
    listContacts: (request, call) => listContacts(context, request, call),

    exportContacts: (request, call) => exportContacts(context, request, call),

    getImportSample: async (_request, { caller }) => {
      const definitions = await readDefinitions(context.collections.of(caller.organizationId).attributes)
      return sampleCsv([...definitions.values()])
    },

    countTags: (_request, { caller }) => countTags(context, caller.organizationId),

    getGrowth: (request, call) => getGrowth(context, request, call),

    getContact: async ({ id }, { caller }) =>
      json(publicContact(await context.collections.of(caller.organizationId).contacts.get(id, 'contact'))),

    createContact: (request, call) => create(request, call),

    updateContact: ({ id, ...patch }, call) => change(call, id, 'contact.updated', patch),

    updateAttributes: ({ id, attributes }, call) =>
      change(call, id, 'contact.attributes_updated', definitions => {
        const values = castAttributes(definitions, attributes)
        return Object.fromEntries(values.map(([slug, value]) => [pathOf(slug), value]))
      }),

    replaceTags: ({ id, tags }, call) => {
      const wanted = distinctTags(tags)
      return change(call, id, 'contact.tags_replaced', { tags: wanted })
    },

    blockContact: ({ id, reason }, call) =>
      change(call, id, 'contact.blocked', { blocked: true, ...(reason && { blockedReason: reason }) }),

    unblockContact: ({ id }, call) => change(call, id, 'contact.unblocked', { blocked: false, blockedReason: null }),

    linkUser: userLinker(context, change),

    deleteContact: ({ id }, call) => remove(id, call),

    downloadContactData: ({ id }, call) => downloadContactData(context, id, call),
    eraseContact: ({ id }, call) => eraseContact(context, id, call),

    listTimeline: (request, call) => listTimeline(context, request, call),
    listActivities: (request, call) => listActivities(context, request, call),
    listAttributesHistory: (request, call) => listAttributesHistory(context, request, call),
    listContactLists: (request, call) => listContactLists(context, request, call),
    listEmails: (request, call) => listEmails(context, request, call),
  }
}
