import { AppError, isObjectId } from '@rollcall/contract'
import type { Selection } from '@rollcall/protos/gen/audience-v1.ts'
import { type Filter, objectId } from '@rollcall/store'
import { readDefinitions } from '../attributes/definitions.ts'
import type { Tenant } from '../collections.ts'
import { contactFields } from '../contacts/contact.model.ts'
import type { Segment } from '../segments/segment.model.ts'
import { filterOf } from '../segments/segments.ts'

/** Checks that the lists and segments of a selection exist, and returns the segments. @throws {AppError} list.unknown, segment.unknown */
export async function requireSelection(
  { lists, segments }: Tenant,
  { lists: listIds, segments: segmentIds, excludeLists }: Selection,
): Promise<Segment[]> {
  const [knownLists, knownSegments] = await Promise.all([
    lists.find({ _id: { $in: [...listIds, ...excludeLists].filter(isObjectId) } }, { projection: { name: 1 } }),
    segments.find({ _id: { $in: segmentIds.filter(isObjectId) } }),
  ])
  const listPath =
    pathOfUnknown('lists', listIds, knownLists) ?? pathOfUnknown('excludeLists', excludeLists, knownLists)
  const segmentPath = pathOfUnknown('segments', segmentIds, knownSegments)
  if (listPath) throw new AppError('list.unknown', { path: listPath })
  if (segmentPath) throw new AppError('segment.unknown', { path: segmentPath })
  return knownSegments
}

function pathOfUnknown(field: string, ids: readonly string[], known: readonly { _id: unknown }[]): string | undefined {
  const knownIds = new Set(known.map(({ _id }) => String(_id)))
  const index = ids.findIndex(id => !knownIds.has(id.toLowerCase()))
  return index < 0 ? undefined : `${field}.${index}`
}

/** Returns the filter of a selection's contacts. @throws {AppError} list.unknown, segment.unknown, segment.outdated */
export async function filterOfSelection(tenant: Tenant, selection: Selection): Promise<Filter> {
  const segments = await requireSelection(tenant, selection)
  const fields = contactFields(await readDefinitions(tenant.attributes))
  const ids = (texts: readonly string[]) => texts.map(text => objectId(text))
  const { lists, excludeLists } = selection
  const parts: Filter[] = [
    ...(lists.length > 0 ? [{ lists: { $in: ids(lists) } }] : []),
    ...segments.map(segment => filterOf(segment, fields)),
  ]
  const [first] = parts
  if (!first) return { _id: { $in: [] } }
  const included = parts.length === 1 ? first : { $or: parts }
  return excludeLists.length > 0 ? { $and: [included, { lists: { $nin: ids(excludeLists) } }] } : included
}
