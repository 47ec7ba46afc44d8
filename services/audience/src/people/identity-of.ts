import { emailKeyOf } from '@rollcall/contract'
import type { ClientSession } from 'mongoose'
import type { Contact } from '../contacts/contact.model.ts'
import type { Data } from '../context.ts'

/** Returns the addresses and names that a contact has and had, without addresses that another contact has by now. */
export async function identityOf(
  { collections }: Pick<Data, 'collections'>,
  { _id, organization, email, name }: Contact,
  tx?: ClientSession,
): Promise<{ emailKeys: string[]; names: string[] }> {
  const { contacts, history } = collections.of(organization)
  const changed = { person: _id, 'data.changes.key': { $in: ['email', 'name'] } }
  const entries = await history.find(changed, { tx, projection: { data: 1 } })
  const changes = entries.flatMap(({ data }) => data.changes ?? [])
  const former = (field: string) =>
    changes.filter(({ key }) => key === field).flatMap(({ from, to }) => [String(from ?? ''), String(to ?? '')])
  const emailKeys = new Set([email, ...former('email')].filter(each => each !== '').map(emailKeyOf))
  const others = { emailKey: { $in: [...emailKeys] }, _id: { $ne: _id } }
  for (const { emailKey } of await contacts.find(others, { tx, projection: { emailKey: 1 } }))
    emailKeys.delete(emailKey)
  return { emailKeys: [...emailKeys], names: [...new Set([name, ...former('name')])].filter(each => each !== '') }
}
