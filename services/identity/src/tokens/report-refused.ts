import type { Call } from '@rollcall/rpc'
import { addEvents, event, type Filter } from '@rollcall/store'
import type { Context } from '../context.ts'

/** A token that is tried in a loop must not flood the log. */
const INTERVAL_MS = 60_000

/**
 * Publishes the refusal of a token, at most once a minute for each token. Unknown secrets belong to no token, so they
 * publish nothing. Returns immediately: the refusal must not wait for it.
 * @param named finds the token
 * @param reason code of the refusal
 */
export function reportRefused(
  { collections, store }: Pick<Context, 'collections' | 'store'>,
  organizationId: string,
  named: Filter,
  reason: string,
  { caller, requestId, logger }: Call,
): void {
  const now = new Date()
  const { tokens } = collections.of(organizationId)
  const isDue = { $or: [{ refusedAt: null }, { refusedAt: { $lte: new Date(now.getTime() - INTERVAL_MS) } }] }
  const publish = store.transaction(async tx => {
    const due = { ...named, ...isDue }
    const token = await tokens.findOneAndUpdate(due, { $set: { refusedAt: now } }, { tx, timestamps: false })
    if (!token) return
    const id = String(token._id)
    const actor = { kind: 'token' as const, id, name: token.name }
    const origin = { actor, credential: { kind: 'token' as const, id }, ip: caller.ip ?? null, requestId }
    await addEvents(tx, [event('token.refused', token, { tokenId: id, reason, actor }, now, origin)])
  })
  publish.catch(err => logger.error({ err }, 'publishing a refused token failed'))
}
