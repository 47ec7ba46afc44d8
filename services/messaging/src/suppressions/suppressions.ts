import { AppError, emailKeyOf, type HttpBody, json } from '@rollcall/contract'
import type { CreateSuppressionRequest } from '@rollcall/protos/gen/messaging-v1.ts'
import { actorOf, type Call, type Handlers } from '@rollcall/rpc'
import { addEvents, event, isDuplicate, runList, untilReleased } from '@rollcall/store'
import type { Context } from '../context.ts'
import { liftSuppression } from './suppress.ts'
import { publicSuppression, suppressionFields } from './suppression.model.ts'

/** Handlers of suppressed addresses. */
export const suppressions = (context: Context): Handlers<'rollcall.messaging.v1.Suppressions'> => ({
  listSuppressions: ({ list }, { caller }) =>
    runList({
      scope: context.collections.of(caller.organizationId).suppressions,
      query: list ?? {},
      fields: suppressionFields,
      present: publicSuppression,
    }),

  createSuppression: (request, call) => createSuppression(context, request, call),

  getSuppression: async ({ id }, { caller }) =>
    json(publicSuppression(await context.collections.of(caller.organizationId).suppressions.get(id, 'suppression'))),

  deleteSuppression: ({ id }, call) => deleteSuppression(context, id, call),
})

async function createSuppression(
  context: Context,
  { email, reason = '' }: CreateSuppressionRequest,
  { caller }: Call,
): Promise<HttpBody> {
  const { suppressions } = context.collections.of(caller.organizationId)
  const at = new Date()
  const draft = { email, emailKey: emailKeyOf(email), kind: 'manual', reason, firstAt: at, lastAt: at } as const
  const hashes = context.addressHasher.hashes(draft.emailKey)
  const insert = context.store.transaction(async tx => {
    // The suppression of an erased address, which is named again.
    const erased = await suppressions.findOneAndDelete({ emailKey: { $in: hashes } }, { tx })
    const created = await suppressions.insertOne({ ...draft, ...(erased && { kind: erased.kind }) }, { tx })
    const suppression = publicSuppression(created)
    await addEvents(tx, [event('suppression.created', created, { suppression, actor: actorOf(caller) }, at)])
    return suppression
  })
  const created = await insert.catch(error => {
    throw isDuplicate(error) ? new AppError('record.duplicate', { path: 'email' }) : error
  })
  await untilReleased(context.collections.of(caller.organizationId).holds, [draft.emailKey])
  return json(created)
}

async function deleteSuppression(context: Context, id: string, { caller }: Call): Promise<HttpBody> {
  const lifted = await liftSuppression(context, caller.organizationId, { _id: id }, actorOf(caller))
  if (!lifted) throw new AppError('suppression.not_found')
  return json(lifted)
}
