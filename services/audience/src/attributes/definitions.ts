import type { Scope } from '@rollcall/store'
import type { ClientSession } from 'mongoose'
import type { Attribute } from './attribute.model.ts'
import type { Definitions } from './attribute-values.ts'

/** Matches definitions that are not being deleted. */
export const alive = { deleting: false }

/** Returns an organization's definitions. Read them in the transaction that writes values. */
export async function readDefinitions(attributes: Scope<Attribute>, tx?: ClientSession): Promise<Definitions> {
  const found = await attributes.find(alive, { tx, sort: { _id: 1 } })
  return new Map(found.map(definition => [definition.slug, definition]))
}
