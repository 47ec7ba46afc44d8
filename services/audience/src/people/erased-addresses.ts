import type { ClientSession, Types } from 'mongoose'
import type { Tenant } from '../collections.ts'
import type { Contact } from '../contacts/contact.model.ts'
import type { Adding } from '../context.ts'

type Hashing = Pick<Adding, 'collections' | 'addressHasher'>
type Organization = string | Types.ObjectId

/** Remembers that these addresses had opted out, by a keyed hash. */
export async function keepOptOuts(
  { collections, addressHasher }: Hashing,
  organization: Organization,
  emailKeys: readonly string[],
  tx: ClientSession,
): Promise<void> {
  const { erasedAddresses } = collections.of(organization, tx)
  await forgetOptOuts({ collections, addressHasher }, organization, emailKeys, tx) // under an older key
  await erasedAddresses.insertMany(emailKeys.map(key => ({ hash: addressHasher.hash(key), at: new Date() })))
}

/** Forgets that these addresses had opted out: their owner has subscribed again. */
export async function forgetOptOuts(
  { collections, addressHasher }: Hashing,
  organization: Organization,
  emailKeys: readonly string[],
  tx: ClientSession,
): Promise<void> {
  const hashes = emailKeys.flatMap(key => addressHasher.hashes(key))
  await collections.of(organization, tx).erasedAddresses.deleteMany({ hash: { $in: hashes } })
}

/** Opts new contacts out whose address had opted out when it was erased. Changes them in place. */
export async function applyOptOuts(
  hashing: Hashing,
  organization: Organization,
  added: readonly Pick<Contact, 'emailKey' | 'unsubscribed'>[],
  tx?: ClientSession,
): Promise<void> {
  const subscribed = added.filter(({ unsubscribed }) => !unsubscribed)
  const keys = subscribed.map(({ emailKey }) => emailKey)
  const optedOut = await optedOutOf(hashing, organization, keys, tx)
  for (const each of subscribed) if (optedOut.has(each.emailKey)) each.unsubscribed = true
}

/** Returns those of the addresses that had opted out when they were erased. */
export async function optedOutOf(
  { collections, addressHasher }: Hashing,
  organization: Organization,
  emailKeys: readonly string[],
  tx?: ClientSession,
): Promise<Set<string>> {
  const { erasedAddresses } = collections.of(organization)
  if (emailKeys.length === 0 || !(await hasAny(erasedAddresses, tx))) return new Set()
  const byHash = new Map(emailKeys.flatMap(key => addressHasher.hashes(key).map(hash => [hash, key])))
  const found = await erasedAddresses.find({ hash: { $in: [...byHash.keys()] } }, { tx })
  return new Set(found.map(({ hash }) => byHash.get(hash)!))
}

/** Most organizations have none: then nothing is hashed. */
async function hasAny(erasedAddresses: Tenant['erasedAddresses'], tx?: ClientSession): Promise<boolean> {
  return (await erasedAddresses.findOne({}, { tx, projection: { _id: 1 } })) !== null
}
