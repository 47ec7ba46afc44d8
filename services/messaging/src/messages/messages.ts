import { AppError, type HttpBody, json } from '@rollcall/contract'
import type { Handlers } from '@rollcall/rpc'
import { addEvents, runList } from '@rollcall/store'
import type { Tenant } from '../collections.ts'
import type { Context } from '../context.ts'
import type { Mail } from '../mail/mail.model.ts'
import { mailEvent } from '../mail/mail-events.ts'
import { messageFields, publicMessage } from './public-message.ts'
import { sendMessage } from './send-message.ts'

/** Mail of the installation is no message of an organization; that of a campaign becomes one when its turn comes. */
const shown = { kind: { $ne: 'account' }, status: { $ne: 'waiting' } }

/** Handlers of messages. */
export const messages = (context: Context): Handlers<'rollcall.messaging.v1.Messages'> => ({
  sendMessage: (request, call) => sendMessage(context, request, call),

  listMessages: ({ list }, { caller }) =>
    runList({
      scope: context.collections.of(caller.organizationId).mails,
      base: shown,
      fields: messageFields,
      present: mail => publicMessage(mail as Mail),
      query: list ?? {},
    }),

  getMessage: async ({ id }, { caller }) => answer(await find(context.collections.of(caller.organizationId), id)),

  cancelMessage: ({ id }, { caller }) => cancelMessage(context, context.collections.of(caller.organizationId), id),
})

const answer = (mail: Mail): HttpBody => json(publicMessage(mail))

async function find({ mails }: Tenant, id: string): Promise<Mail> {
  const mail = await mails.findOne({ ...shown, _id: id })
  if (!mail) throw new AppError('message.not_found')
  return mail
}

/** Cancels a scheduled message. The job that sends it begins with the same condition, so one of the two wins. */
async function cancelMessage({ store }: Context, tenant: Tenant, id: string): Promise<HttpBody> {
  const at = new Date()
  const end = { status: 'cancelled', dueAt: null, finishedAt: at, text: null, html: null }
  const update = { $set: end, $push: { steps: { type: 'cancelled', at, detail: null } } }
  const cancelled = await store.transaction(async tx => {
    const scheduled = { kind: 'transactional', _id: id, status: 'scheduled' }
    const mail = await tenant.mails.findOneAndUpdate(scheduled, update, { tx })
    if (mail) await addEvents(tx, [mailEvent(mail, 'cancelled', at)])
    return mail
  })
  if (cancelled) return answer(cancelled)
  await find(tenant, id)
  throw new AppError('message.not_scheduled')
}
