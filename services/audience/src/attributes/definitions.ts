import type { Scope } from '@rollcall/store'
import type { ClientSession } from 'mongoose'
import type { Attribute } from './attribute.model.ts'
import type { Definitions } from './attribute-values.ts'

/** Condition that leaves out definitions on their way out. */
export const alive = { deleting: false }

/** An organization's definitions. Who writes values reads them in the transaction of the write. */
export async function readDefinitions(attributes: Scope<Attribute>, tx?: ClientSession): Promise<Definitions> {
  const found = await attributes.find(alive, { tx, sort: { _id: 1 } })
  return new Map(found.map(definition => [definition.slug, definition]))
}
