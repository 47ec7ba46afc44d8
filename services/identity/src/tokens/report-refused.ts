import type { Call } from '@rollcall/rpc'
import { addEvents, event, type Filter } from '@rollcall/store'
import type { Context } from '../context.ts'

/** A token that is tried in a loop must not flood the log. */
const INTERVAL_MS = 60_000

type Stores = Pick<Context, 'collections' | 'store'>

/** The refusal of a token. */
type Refusal = {
  /** Code of the refusal. */
  reason: string
  at: Date
  /** Address of the client. */
  ip: string | null
  requestId: string
}

/**
 * Publishes the refusal of a token as `publishRefused` does. Returns immediately: the refusal must not wait for it.
 * @param named finds the token
 * @param reason code of the refusal
 */
export function reportRefused(
  context: Stores,
  organizationId: string,
  named: Filter,
  reason: string,
  { caller, requestId, logger }: Call,
): void {
  publishRefused(context, organizationId, named, { reason, at: new Date(), ip: caller.ip ?? null, requestId }).catch(
    err => logger.error({ err }, 'publishing a refused token failed'),
  )
}

/**
 * Publishes the refusal of a token, at most once a minute for each token. Unknown secrets belong to no token, so they
 * publish nothing.
 * @param named finds the token
 */
export async function publishRefused(
  { collections, store }: Stores,
  organizationId: string,
  named: Filter,
  { reason, at, ip, requestId }: Refusal,
): Promise<void> {
  const { tokens } = collections.of(organizationId)
  const isDue = { $or: [{ refusedAt: null }, { refusedAt: { $lte: new Date(at.getTime() - INTERVAL_MS) } }] }
  await store.transaction(async tx => {
    const due = { ...named, ...isDue }
    const token = await tokens.findOneAndUpdate(due, { $set: { refusedAt: at } }, { tx, timestamps: false })
    if (!token) return
    const id = String(token._id)
    const actor = { kind: 'token' as const, id, name: token.name }
    const origin = { actor, credential: { kind: 'token' as const, id }, ip, requestId }
    await addEvents(tx, [event('token.refused', token, { tokenId: id, reason, actor }, at, origin)])
  })
}
