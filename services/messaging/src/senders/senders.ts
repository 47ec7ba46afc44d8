import { json, updated } from '@rollcall/contract'
import type { Caller, Handlers } from '@rollcall/rpc'
import { type PopulateMap, personReference, runList } from '@rollcall/store'
import type { Context } from '../context.ts'
import { deleteSender, setDefaultSender, updateSender } from './change-sender.ts'
import { checkSmtp } from './check-smtp.ts'
import { finishOauth, returnUrl, startOauth } from './connect-account.ts'
import { createSender } from './create-sender.ts'
import { senderFor, visibleTo } from './rights.ts'
import { sendTestMail } from './send-test-mail.ts'
import { publicSender, senderFields } from './sender.model.ts'
import { listSharedUsers, shareSender, transferSender, unshareSender } from './share-sender.ts'

/** Handlers of senders. */
export const senders = (context: Context): Handlers<'rollcall.messaging.v1.Senders'> => ({
  listSenders: async ({ list }, { caller }) =>
    runList({
      scope: context.collections.of(caller.organizationId).senders,
      base: await visibleTo(context, caller),
      fields: senderFields,
      populate: people(context, caller),
      query: list ?? {},
    }),

  createSender: (request, { caller }) => createSender(context, request, caller),

  getSender: async ({ id }, { caller }) => json(publicSender(await senderFor(context, 'read', id, caller))),

  async updateSender(request, { caller }) {
    await updateSender(context, request, caller)
    return updated()
  },

  deleteSender: async ({ id }, { caller }) => json(publicSender(await deleteSender(context, id, caller))),

  async setDefaultSender({ id }, { caller }) {
    await setDefaultSender(context, id, caller)
    return updated()
  },

  async shareSender({ id, userIds }, { caller }) {
    await shareSender(context, id, userIds, caller)
    return updated()
  },

  async unshareSender({ id, userIds }, { caller }) {
    await unshareSender(context, id, userIds, caller)
    return updated()
  },

  listSharedUsers: (request, { caller }) => listSharedUsers(context, request, caller),

  async transferSender({ id, userId }, { caller }) {
    await transferSender(context, id, userId, caller)
    return updated()
  },

  testSender: (request, call) => sendTestMail(context, request, call),

  testSmtp: (request, call) => checkSmtp(context, request, call),

  startSenderOauth: (request, { caller }) => startOauth(context, request, caller),

  returnSenderOauth: async request => ({ url: returnUrl(context, request) }),

  async finishSenderOauth(request, { caller }) {
    await finishOauth(context, request, caller)
    return { success: true, message: 'connected' }
  },
})

/** Returns how to load the users that a sender refers to. */
function people({ findUsers }: Context, caller: Caller): PopulateMap {
  const load = async (ids: string[]) => {
    const users = await findUsers(caller.organizationId, ids)
    return new Map(users.map(({ id, name, email }) => [id, { _id: id, id, name, email }]))
  }
  const person = personReference(caller, { load })
  return { owner: person, creator: person, sharedWith: person }
}
