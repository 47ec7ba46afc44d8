import { type HttpBody, json } from '@rollcall/contract'
import type { TagCountJson } from '@rollcall/protos/gen/audience-v1.ts'
import type { Context } from '../context.ts'
import { contactPositions } from './contact.model.ts'
import { openColumns } from './list-contacts.ts'

/** Only the most frequent tags are listed; an organization can have any number. */
const MAX_TAGS = 10_000

/** Returns the tags in use with their number of contacts, most used first. */
export async function countTags(context: Context, organizationId: string): Promise<HttpBody> {
  const { contacts } = context.collections.of(organizationId)
  const columns = openColumns(context, organizationId, contactPositions(context, organizationId))
  const counts = await columns.countTexts({ records: contacts, field: 'tags' })
  const tags = [...counts].map(([tag, count]): TagCountJson => ({ tag, count }))
  tags.sort((one, other) => other.count - one.count || (one.tag < other.tag ? -1 : 1))
  return json(tags.slice(0, MAX_TAGS))
}
