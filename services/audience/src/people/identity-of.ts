import { emailKeyOf } from '@rollcall/contract'
import type { ClientSession } from 'mongoose'
import type { Contact } from '../contacts/contact.model.ts'
import type { Data } from '../context.ts'

/** The addresses and names that a contact has and had, and whether it has opted out or complained. */
export type Identity = { emailKeys: string[]; names: string[]; isOptedOut: boolean }

/** Returns who a contact is, without addresses that another contact has by now. */
export async function identityOf(
  { collections }: Pick<Data, 'collections'>,
  { _id, organization, email, name, unsubscribed, emailStatus }: Contact,
  tx?: ClientSession,
): Promise<Identity> {
  const { history } = collections.of(organization)
  const changed = { person: _id, 'data.changes.key': { $in: ['email', 'name'] } }
  const entries = await history.find(changed, { tx, projection: { data: 1 } })
  const changes = entries.flatMap(({ data }) => data.changes ?? [])
  const former = (field: string) =>
    changes.filter(({ key }) => key === field).flatMap(({ from, to }) => [String(from ?? ''), String(to ?? '')])
  const emailKeys = [email, ...former('email')].filter(each => each !== '').map(emailKeyOf)
  return {
    emailKeys: await withoutOthers({ collections }, { _id, organization }, emailKeys, tx),
    names: [...new Set([name, ...former('name')])].filter(each => each !== ''),
    isOptedOut: unsubscribed || emailStatus === 'complained',
  }
}

/** Returns the addresses, each once, without those that another contact has by now. */
export async function withoutOthers(
  { collections }: Pick<Data, 'collections'>,
  { _id, organization }: Pick<Contact, '_id' | 'organization'>,
  emailKeys: readonly string[],
  tx?: ClientSession,
): Promise<string[]> {
  const { contacts } = collections.of(organization)
  const own = new Set(emailKeys)
  const others = { emailKey: { $in: [...own] }, _id: { $ne: _id } }
  const taken = await contacts.find(others, { tx, projection: { emailKey: 1 } })
  for (const { emailKey } of taken) own.delete(emailKey)
  return [...own]
}
