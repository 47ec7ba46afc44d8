import { emailKeyOf } from '@rollcall/contract'
import type { SuppressionJson } from '@rollcall/protos/gen/messaging-v1.ts'
import type { Actor } from '@rollcall/rpc'
import { addEvents, event, type Filter, isDuplicate, type Scope } from '@rollcall/store'
import type { ClientSession } from 'mongoose'
import type { Context } from '../context.ts'
import { publicSuppression, type Suppression, type SuppressionKind, suppressionKinds } from './suppression.model.ts'

/** Why an address is to be suppressed. */
export type SuppressionCause = {
  email: string
  kind: SuppressionKind
  reason: string
  /** The id of the message that caused it. */
  message: string
  at: Date
}

const messaging = { kind: 'system', id: null, name: 'messaging' } as const

/**
 * Suppresses an address, or counts one more reason for it, in the given transaction with the event. Fails with a
 * duplicate if another transaction suppresses it at the same time: run it by `retryDuplicate`.
 */
export async function suppress(
  suppressions: Scope<Suppression>,
  { email, kind, reason, message, at }: SuppressionCause,
  tx: ClientSession,
): Promise<void> {
  const emailKey = emailKeyOf(email)
  const known = await suppressions.findOne({ emailKey }, { tx })
  if (known) {
    const isLighter = suppressionKinds.indexOf(kind) < suppressionKinds.indexOf(known.kind)
    const latest = { lastAt: at, ...(!isLighter && { kind, reason, message }) }
    await suppressions.updateOne({ _id: known._id }, { $set: latest, $inc: { count: 1 } }, { tx })
    return
  }
  const draft = { email, emailKey, kind, reason, message, firstAt: at, lastAt: at }
  const created = await suppressions.insertOne(draft, { tx })
  const data = { suppression: publicSuppression(created), actor: messaging }
  await addEvents(tx, [event('suppression.created', created, data, at)])
}

/** Lifts the suppression that a filter finds, with its event. Returns it as it was; undefined if there is none. */
export function liftSuppression(
  { store, collections }: Pick<Context, 'store' | 'collections'>,
  organizationId: string,
  filter: Filter,
  actor: Actor,
): Promise<SuppressionJson | undefined> {
  const { suppressions } = collections.of(organizationId)
  return store.transaction(tx => liftSuppressionIn(suppressions, filter, actor, tx))
}

/** As `liftSuppression`, in the given transaction. */
export async function liftSuppressionIn(
  suppressions: Scope<Suppression>,
  filter: Filter,
  actor: Actor,
  tx: ClientSession,
): Promise<SuppressionJson | undefined> {
  const deleted = await suppressions.findOneAndDelete(filter, { tx })
  if (!deleted) return undefined
  const suppression = publicSuppression(deleted)
  await addEvents(tx, [event('suppression.deleted', deleted, { suppression, actor })])
  return suppression
}

/** Returns the suppressions of these addresses, by the key of the address. */
export async function suppressionsOf(
  suppressions: Scope<Suppression>,
  emails: readonly string[],
): Promise<Map<string, Suppression>> {
  const found = await suppressions.find({ emailKey: { $in: emails.map(emailKeyOf) } })
  return new Map(found.map(suppression => [suppression.emailKey, suppression]))
}

/** Runs a transaction again if a concurrent one inserted the same record. */
export function retryDuplicate<T>(transaction: () => Promise<T>): Promise<T> {
  return transaction().catch(error => {
    if (!isDuplicate(error)) throw error
    return transaction()
  })
}
