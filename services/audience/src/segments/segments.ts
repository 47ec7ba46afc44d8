import { AppError, type HttpBody, json, updated } from '@rollcall/contract'
import type { CreateSegmentRequest, UpdateSegmentRequest } from '@rollcall/protos/gen/audience-v1.ts'
import type { ListOfRequest, Updated } from '@rollcall/protos/gen/types.ts'
import { actorOf, type Call, type Handlers } from '@rollcall/rpc'
import {
  addEvents,
  changedFields,
  changesBetween,
  countRecords,
  event,
  type FieldTable,
  type Filter,
  parseFilter,
  parseSort,
  requireRoom,
  runList,
} from '@rollcall/store'
import { readDefinitions } from '../attributes/definitions.ts'
import { contactFields } from '../contacts/contact.model.ts'
import { contactList } from '../contacts/list-contacts.ts'
import type { Context } from '../context.ts'
import { requireUnused } from '../in-use.ts'
import { nameKeyOf, publicSegment, type Segment, segmentFields } from './segment.model.ts'

/** The use cases of segments. */
export function segments(context: Context): Handlers<'rollcall.audience.v1.Segments'> {
  return {
    listSegments: ({ list }, { caller }) =>
      runList({
        scope: context.collections.of(caller.organizationId).segments,
        query: list ?? {},
        fields: segmentFields,
        present: publicSegment,
      }),

    createSegment: (request, call) => createSegment(context, request, call),

    getSegment: async ({ id }, { caller }) =>
      json(publicSegment(await context.collections.of(caller.organizationId).segments.get(id, 'segment'))),

    updateSegment: (request, call) => updateSegment(context, request, call),
    deleteSegment: ({ id }, call) => deleteSegment(context, id, call),

    listSegmentContacts: (request, call) => listSegmentContacts(context, request, call),

    countSegment: async ({ id }, call) => {
      const { where, fields } = await openSegment(context, id, call)
      return { count: await countRecords({ ...contactList(context, call, fields), where }) }
    },
  }
}

async function createSegment(
  context: Context,
  { filter, sort, ...rest }: CreateSegmentRequest,
  { caller }: Call,
): Promise<HttpBody> {
  const { segments } = context.collections.of(caller.organizationId)
  const texts = await checkedTexts(context, caller, { filter, sort })
  const createdBy = actorOf(caller)
  const draft = { ...rest, ...texts, nameKey: nameKeyOf(rest.name), createdBy }
  const quota = { limit: context.limits.segments, what: 'segments per organization' }
  const created = await context.store.transaction(
    async tx => {
      await requireRoom(segments, quota, tx)
      const segment = await segments.insertOne(draft, { tx })
      await addEvents(tx, [event('segment.created', segment, { segment: publicSegment(segment), actor: createdBy })])
      return segment
    },
    { queue: `segments of ${caller.organizationId}` },
  )
  return json(publicSegment(created))
}

async function updateSegment(
  context: Context,
  { id, filter, sort, ...rest }: UpdateSegmentRequest,
  { caller }: Call,
): Promise<Updated> {
  const { segments } = context.collections.of(caller.organizationId)
  const wanted = { ...rest, ...(await checkedTexts(context, caller, { filter, sort })) }
  await context.store.transaction(async tx => {
    const before = await segments.get(id, 'segment', { tx })
    const changed = changedFields(before, wanted)
    if (changed.length === 0) return
    const key = rest.name !== undefined && { nameKey: nameKeyOf(rest.name) }
    const after = await segments.rewriteOne({ _id: before._id }, { ...wanted, ...key }, { tx })
    const segment = publicSegment(after!)
    const changes = changesBetween(changed, publicSegment(before), segment)
    const data = { segment, changed, changes, actor: actorOf(caller) }
    await addEvents(tx, [event('segment.updated', after!, data)])
  })
  return updated()
}

async function deleteSegment(context: Context, id: string, call: Call): Promise<HttpBody> {
  const { caller } = call
  const { segments } = context.collections.of(caller.organizationId)
  await requireUnused(context, 'segment', String((await segments.get(id, 'segment'))._id), call)
  const actor = actorOf(caller)
  return context.store.transaction(async tx => {
    const segment = await segments.get(id, 'segment', { tx })
    await segments.deleteOne({ _id: segment._id }, { tx })
    await addEvents(tx, [event('segment.deleted', segment, { segment: publicSegment(segment), actor })])
    return json(publicSegment(segment))
  })
}

async function listSegmentContacts(context: Context, { id, list }: ListOfRequest, call: Call) {
  const { segment, where, fields } = await openSegment(context, id, call)
  const query = { ...list, sort: list?.sort || segment.sort }
  return runList({ ...contactList(context, call, fields), query, where })
}

/** Returns a segment with its filter on stored fields. @throws {AppError} segment.not_found, segment.outdated */
async function openSegment(context: Context, id: string, { caller }: Call) {
  const { segments, attributes } = context.collections.of(caller.organizationId)
  const segment = await segments.get(id, 'segment')
  const fields = contactFields(await readDefinitions(attributes))
  return { segment, fields, where: filterOf(segment, fields) }
}

/** Returns the filter of a segment on stored fields. @throws {AppError} segment.outdated */
export function filterOf({ filter, sort }: Segment, fields: FieldTable): Filter {
  try {
    parseSort(sort, fields)
    return parseFilter(filter, fields)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    throw new AppError('segment.outdated', { reason: 'reason' in error.details ? String(error.details.reason) : '' })
  }
}

/** Filter and sort of a request, as objects. */
type Given = { filter?: unknown; sort?: unknown }

/** Returns filter and sort of a request as they are stored. @throws {AppError} request.invalid_field unless a list takes them */
async function checkedTexts(context: Context, { organizationId }: Call['caller'], { filter, sort }: Given) {
  const texts = {
    ...(filter !== undefined && { filter: JSON.stringify(filter) }),
    ...(sort !== undefined && { sort: JSON.stringify(sort) }),
  }
  if (Object.keys(texts).length === 0) return texts
  const fields = contactFields(await readDefinitions(context.collections.of(organizationId).attributes))
  parseFilter(texts.filter, fields)
  parseSort(texts.sort, fields)
  return texts
}
