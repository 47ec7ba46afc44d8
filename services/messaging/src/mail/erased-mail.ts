import { ERASED } from '@rollcall/service'
import type { ClientSession } from 'mongoose'
import type { Tenant } from '../collections.ts'
import type { Mail } from './mail.model.ts'

/** Returns a mail without what names its recipient. */
export function withoutRecipient(mail: Mail): Mail {
  return { ...mail, to: ERASED, subject: ERASED }
}

/** Returns the condition that the recipient of a mail was not erased since the mail was read. */
export function notErasedSince({ to }: Pick<Mail, 'to'>): object {
  return { to: to === ERASED ? ERASED : { $ne: ERASED } }
}

/**
 * Returns the ids of mails whose recipients were erased since the mails were read; a later erasure conflicts with the
 * transaction. Reads by the ids alone, because with the address in the filter of a write SecantusDB uses no index.
 */
export async function erasedSince(
  mails: Tenant['mails'],
  read: readonly Mail[],
  tx: ClientSession,
): Promise<Set<string>> {
  const named = read.filter(({ to }) => to !== ERASED)
  const found = await mails.find({ _id: { $in: named.map(({ _id }) => _id) } }, { tx, projection: { to: 1 } })
  return new Set(found.filter(({ to }) => to === ERASED).map(({ _id }) => String(_id)))
}
