import { emailKeyOf } from '@rollcall/contract'
import type { SecretHasher } from '@rollcall/credentials'
import type { SuppressionJson } from '@rollcall/protos/gen/messaging-v1.ts'
import type { Actor } from '@rollcall/rpc'
import { ERASED } from '@rollcall/service'
import { addEvents, event, type Filter, insertOf, isDuplicate } from '@rollcall/store'
import type { ClientSession, Types } from 'mongoose'
import type { Tenant } from '../collections.ts'
import type { Context } from '../context.ts'
import {
  isErased,
  publicSuppression,
  type Suppression,
  type SuppressionKind,
  suppressionKinds,
} from './suppression.model.ts'

type Suppressing = Pick<Context, 'collections' | 'addressHasher'>

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
  context: Suppressing,
  organization: string | Types.ObjectId,
  { email, kind, reason, message, at }: SuppressionCause,
  tx: ClientSession,
): Promise<void> {
  const { suppressions } = context.collections.of(organization)
  const known = await suppressions.findOne(ofAddress(context, email), { tx })
  if (known) {
    const isLighter = suppressionKinds.indexOf(kind) < suppressionKinds.indexOf(known.kind)
    const cause = isErased(known) ? { kind } : { kind, reason, message }
    const latest = { lastAt: at, ...(!isLighter && cause) }
    await suppressions.updateOne({ _id: known._id }, { $set: latest, $inc: { count: 1 } }, { tx })
    return
  }
  const draft = { email, emailKey: emailKeyOf(email), kind, reason, message, firstAt: at, lastAt: at }
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
  suppressions: Tenant['suppressions'],
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
  { collections, addressHasher }: Suppressing,
  organizationId: string,
  emails: readonly string[],
): Promise<Map<string, Suppression>> {
  const keys = new Map(emails.map(emailKeyOf).flatMap(key => storedKeys(addressHasher, key).map(each => [each, key])))
  const found = await collections.of(organizationId).suppressions.find({ emailKey: { $in: [...keys.keys()] } })
  return new Map(found.map(suppression => [keys.get(suppression.emailKey)!, suppression]))
}

/** Returns a filter of the suppression of an address, which may have been erased. */
export function ofAddress({ addressHasher }: Pick<Context, 'addressHasher'>, email: string): Filter {
  return { emailKey: { $in: storedKeys(addressHasher, emailKeyOf(email)) } }
}

function storedKeys(addressHasher: SecretHasher, key: string): string[] {
  return [key, ...addressHasher.hashes(key)]
}

/**
 * Erases the suppressions of addresses: what stays is a keyed hash, so the addresses get no mail and nobody can read
 * them. Returns their number.
 */
export async function eraseSuppressions(
  { store, collections, addressHasher }: Pick<Context, 'store' | 'collections' | 'addressHasher'>,
  organizationId: string,
  emailKeys: readonly string[],
): Promise<number> {
  const { suppressions } = collections.of(organizationId)
  let erased = 0
  for (const emailKey of emailKeys)
    erased += await store.transaction(async tx => {
      const named = await suppressions.findOneAndDelete({ emailKey }, { tx })
      if (!named) return 0
      const blank = { email: ERASED, emailKey: addressHasher.hash(emailKey), reason: '', message: null }
      // Deleted and inserted: not every server frees a unique key at once when a record is updated.
      await suppressions.bulkWrite([insertOf({ ...named, ...blank })], { tx })
      return 1
    })
  return erased
}

/** Runs a transaction again if a concurrent one inserted the same record. */
export function retryDuplicate<T>(transaction: () => Promise<T>): Promise<T> {
  return transaction().catch(error => {
    if (!isDuplicate(error)) throw error
    return transaction()
  })
}
