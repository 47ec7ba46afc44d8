import { AppError } from '@rollcall/contract'
import { insertOf } from '@rollcall/store'
import { type ClientSession, Types } from 'mongoose'
import type { Definitions } from '../attributes/attribute-values.ts'
import { readDefinitions } from '../attributes/definitions.ts'
import { changeAll } from '../contacts/change-contact.ts'
import { type Change, changesOf } from '../contacts/changes.ts'
import type { Contact } from '../contacts/contact.model.ts'
import { orRefusal } from '../contacts/refusal.ts'
import type { Data } from '../context.ts'
import type { AudienceList } from '../lists/list.model.ts'
import { addMembers, isMember, removeMembers } from '../lists/members.ts'
import type { StepResult } from './bulk.job.ts'
import type { BulkJob } from './bulk-job.model.ts'
import { type BulkTrace, traceExpiry } from './bulk-trace.model.ts'
import { type ContactsChange, plannedPatches, type TypedPatch } from './plan-change.ts'

type Planned = { contact: Contact; patches: TypedPatch[] }
type Plan = { planned: Planned[]; errors: StepResult['errors'] }

/** Changes contacts in a transaction, as the single calls would, and stores what an undo needs. */
export async function changeContacts(
  data: Data,
  tx: ClientSession,
  job: BulkJob,
  change: ContactsChange,
  found: readonly Contact[],
): Promise<StepResult> {
  const tenant = data.collections.of(job.organization)
  const { planned, errors } = planAll(found, change, await readDefinitions(tenant.attributes, tx))
  const changes = await changeFields(data, tx, job, planned)
  const members = await changeLists(data, tx, job, change, planned)
  const touched = planned.filter(({ contact }) => changes.has(String(contact._id)) || members.has(String(contact._id)))
  const traces = touched.map(({ contact }, index): BulkTrace => {
    const { joined = [], left = [] } = members.get(String(contact._id)) ?? {}
    return {
      _id: new Types.ObjectId(),
      organization: job.organization,
      job: job._id,
      number: job.result.changed + index + 1,
      contact: contact._id,
      changes: changes.get(String(contact._id)) ?? [],
      joined,
      left,
      deleted: null,
      expiresAt: traceExpiry(),
    }
  })
  await tenant.bulkTraces.bulkWrite(traces.map(insertOf), { tx })
  return { changed: touched.length, failed: errors.length, errors, sample: [] }
}

/** Returns what a change would do to contacts. */
export async function previewChange(
  data: Data,
  tx: ClientSession,
  { organization }: BulkJob,
  change: ContactsChange,
  found: readonly Contact[],
): Promise<StepResult> {
  const { attributes } = data.collections.of(organization)
  const { planned, errors } = planAll(found, change, await readDefinitions(attributes, tx))
  const previews = planned.flatMap(({ contact, patches }) => {
    const changes = [...patches.flatMap(({ patch }) => changesOf(contact, patch)), ...listChanges(contact, change)]
    const shown = changes.map(({ key: field, from, to }) => ({ field, from: from ?? null, to }))
    return shown.length > 0 ? [{ contact: String(contact._id), changes: shown }] : []
  })
  return { changed: previews.length, failed: errors.length, errors, sample: previews.slice(0, 20) }
}

function planAll(found: readonly Contact[], change: ContactsChange, definitions: Definitions): Plan {
  const plan: Plan = { planned: [], errors: [] }
  for (const contact of found) {
    const patches = orRefusal(() => plannedPatches(contact, change, definitions))
    if (patches instanceof AppError)
      plan.errors.push({ contact: String(contact._id), code: patches.code, message: patches.message })
    else plan.planned.push({ contact, patches })
  }
  return plan
}

/** Changes fields, with a history entry and an event for each patch. Returns the changes by contact. */
export async function changeFields(
  data: Data,
  tx: ClientSession,
  { _id: job, organization, origin }: BulkJob,
  planned: readonly Planned[],
): Promise<Map<string, Change[]>> {
  const organizationId = String(organization)
  const requests = planned.flatMap(({ contact, patches }) =>
    patches.map(({ type, patch }) => ({
      organizationId,
      id: String(contact._id),
      type,
      actor: origin.actor,
      origin,
      patch,
    })),
  )
  if (requests.length === 0) return new Map()
  const results = await changeAll(data)(tx, requests, organizationId)
  const refusal = results.find(result => result instanceof AppError)
  if (refusal) throw refusal // the patches were checked in this transaction
  const made = results.flatMap((result, index) =>
    result && !(result instanceof AppError) ? [{ id: requests[index]!.id, changes: result.changes }] : [],
  )
  const byContact = Map.groupBy(made, ({ id }) => id)
  const changes = new Map([...byContact].map(([id, all]) => [id, all.flatMap(each => each.changes)]))
  await markOwn(data, tx, organizationId, job, changes)
  return changes
}

/** Marks opt-outs and blocks as the job's own until somebody else confirms them: its undo keeps theirs. */
async function markOwn(
  { collections }: Data,
  tx: ClientSession,
  organizationId: string,
  job: Types.ObjectId,
  changes: ReadonlyMap<string, Change[]>,
): Promise<void> {
  const { contacts } = collections.of(organizationId)
  for (const [key, mark] of [
    ['unsubscribed', 'optedOutBy'],
    ['blocked', 'blockedBy'],
  ] as const) {
    const own = [...changes].filter(([, made]) => made.some(each => each.key === key && each.to === true))
    const ids = own.map(([id]) => new Types.ObjectId(id))
    if (ids.length > 0)
      await contacts.updateMany({ _id: { $in: ids } }, { $set: { [mark]: job } }, { tx, timestamps: false })
  }
}

/** Memberships that a contact got, and lists that it left. */
type Moves = { joined: Types.ObjectId[]; left: Types.ObjectId[] }

async function changeLists(
  data: Data,
  tx: ClientSession,
  { kind, organization, origin: { actor } }: BulkJob,
  { addToLists = [], removeFromLists = [] }: ContactsChange,
  planned: readonly Planned[],
): Promise<Map<string, Moves>> {
  const { lists, contacts } = data.collections.of(organization)
  const moves = new Map<string, Moves>()
  const movesOf = (contact: Types.ObjectId) => {
    const known = moves.get(String(contact)) ?? { joined: [], left: [] }
    moves.set(String(contact), known)
    return known
  }
  if (addToLists.length + removeFromLists.length === 0) return moves
  const ids = { _id: { $in: planned.map(({ contact }) => contact._id) } }
  const at = new Date()
  for (const id of removeFromLists) {
    const list: AudienceList | null = await lists.findOne({ _id: id }, { tx })
    if (!list) continue // deleted: a job ends its memberships
    const members = (await contacts.find(ids, { tx })).filter(contact => isMember(contact, list._id))
    await removeMembers(data, tx, members, { list, actor, at })
    for (const { _id } of members) movesOf(_id).left.push(list._id)
  }
  for (const id of addToLists) {
    const list = await lists.findOne({ _id: id }, { tx })
    if (!list && kind === 'add_to_list') throw new AppError('list.not_found')
    if (!list) continue // deleted meanwhile
    if (list.archived)
      throw new AppError('list.archived', { path: kind === 'add_to_list' ? 'id' : 'change.addToLists' })
    const candidates = await contacts.find(ids, { tx })
    const joined = await addMembers(data, tx, candidates, { list, actor, source: 'api', at })
    for (const { _id, contact } of joined) movesOf(contact).joined.push(_id)
  }
  return moves
}

function listChanges({ lists = [] }: Contact, { addToLists = [], removeFromLists = [] }: ContactsChange): Change[] {
  const from = lists.map(String)
  const gone = new Set(removeFromLists.map(id => id.toLowerCase()))
  const kept = from.filter(id => !gone.has(id))
  const to = [...new Set([...kept, ...addToLists.map(id => id.toLowerCase())])]
  const isSame = from.length === to.length && from.every((id, index) => id === to[index])
  return isSame ? [] : [{ key: 'lists', from, to }]
}
