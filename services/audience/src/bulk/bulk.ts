import { AppError, type HttpBody, isObjectId, json, updated } from '@rollcall/contract'
import type { BulkJobStarted, ChangeContactsRequest, DeleteContactsRequest } from '@rollcall/protos/gen/audience-v1.ts'
import { bulkJobFields } from '@rollcall/protos/gen/audience-v1.ts'
import type { Updated } from '@rollcall/protos/gen/types.ts'
import { actorOf, type Call, type Caller, type Handlers, requirePermission } from '@rollcall/rpc'
import { addEvents, event, parseFilter, runList } from '@rollcall/store'
import { Types } from 'mongoose'
import { castAttributes } from '../attributes/attribute-values.ts'
import { readDefinitions } from '../attributes/definitions.ts'
import { contactFields, contactPositions } from '../contacts/contact.model.ts'
import type { Context } from '../context.ts'
import { selectionOf } from '../lists/select-members.ts'
import {
  type BulkJob,
  CANCELLED_REASON,
  changeOf,
  publicBulkJob,
  publicResult,
  shownFields,
  UNDO_MS,
  unfinished,
} from './bulk-job.model.ts'
import type { ContactsChange } from './plan-change.ts'
import { insertJob, startJob } from './start-job.ts'

/** The use cases of bulk work. */
export function bulk(context: Context): Handlers<'rollcall.audience.v1.Bulk'> {
  return {
    changeContacts: (request, call) => startChange(context, request, call),
    deleteContacts: (request, call) => startDeletion(context, request, call),

    listBulkJobs: ({ list }, { caller }) =>
      runList({
        scope: context.collections.of(caller.organizationId).bulkJobs,
        query: list ?? {},
        fields: bulkJobFields,
        select: shownFields,
        present: publicBulkJob,
      }),

    getBulkJob: ({ jobId }, call) => getStatus(context, jobId, call),
    cancelBulkJob: ({ jobId }, call) => cancelJob(context, jobId, call),
    undoBulkJob: ({ jobId }, call) => undoJob(context, jobId, call),
  }
}

async function startChange(context: Context, request: ChangeContactsRequest, call: Call): Promise<BulkJobStarted> {
  const { dryRun = false } = request
  const change = request.change! // the contract requires it
  requireForChange(call.caller, change)
  await checkChange(context, change, call.caller)
  const selected = await selectedBy(context, request, call.caller)
  return startJob(context, { ...selected, kind: 'change', dryRun, change: JSON.stringify(change) }, call)
}

async function startDeletion(context: Context, request: DeleteContactsRequest, call: Call): Promise<BulkJobStarted> {
  const selected = await selectedBy(context, request, call.caller)
  return startJob(context, { ...selected, kind: 'delete', dryRun: request.dryRun ?? false }, call)
}

type Selector = Pick<ChangeContactsRequest, 'contactIds' | 'emails' | 'filter'>

/** Returns the selector of a request as the job stores it. @throws {AppError} unless there is exactly one */
async function selectedBy(context: Context, { contactIds, emails, filter }: Selector, caller: Caller) {
  const selection = selectionOf({ contactIds, emails, ...(filter !== undefined && { filter }) })
  if ('field' in selection) return selection
  requirePermission(caller, 'audience.read') // the counts reveal data of contacts
  const { attributes } = context.collections.of(caller.organizationId)
  parseFilter(selection.filter, contactFields(await readDefinitions(attributes)))
  const { last } = await contactPositions(context, caller.organizationId).read()
  return { filter: selection.filter, cursor: last, first: last }
}

/** @throws {AppError} request.invalid_field, request.extra_field, list.unknown, list.archived; each with its path */
async function checkChange(context: Context, change: ContactsChange, { organizationId }: Caller): Promise<void> {
  const { attributes, blocked, blockedReason, unsubscribed, addToLists = [], removeFromLists = [] } = change
  const tenant = context.collections.of(organizationId)
  if (unsubscribed === false)
    throw new AppError('request.invalid_field', { path: 'change.unsubscribed', reason: 'only true is possible' })
  if (blockedReason !== undefined && !blocked)
    throw new AppError('request.extra_field', { path: 'change.blockedReason' })
  if (attributes !== undefined) checkAttributes(await readDefinitions(tenant.attributes), attributes)
  for (const [path, ids, refusesArchived] of [
    ['addToLists', addToLists, true],
    ['removeFromLists', removeFromLists, false],
  ] as const) {
    const found = await tenant.lists.find({ _id: { $in: ids.filter(isObjectId) } }, { projection: { archived: 1 } })
    const known = new Map(found.map(({ _id, archived }) => [String(_id), archived]))
    for (const [index, id] of ids.entries()) {
      const archived = known.get(id.toLowerCase())
      const at = { path: `change.${path}.${index}` }
      if (archived === undefined) throw new AppError('list.unknown', at)
      if (archived && refusesArchived) throw new AppError('list.archived', at)
    }
  }
}

function checkAttributes(definitions: Parameters<typeof castAttributes>[0], given: Record<string, unknown>): void {
  try {
    castAttributes(definitions, given)
  } catch (error) {
    if (!(error instanceof AppError) || !('path' in error.details)) throw error
    const { code, details } = error as AppError<'request.invalid_field'>
    throw new AppError(code, { ...details, path: `change.${details.path}` })
  }
}

/** Refuses who may not start such a change. */
function requireForChange(caller: Caller, { addToLists = [], removeFromLists = [] }: ContactsChange): void {
  requirePermission(caller, 'audience.update')
  if (addToLists.length > 0) requirePermission(caller, 'audience_lists.create')
  if (removeFromLists.length > 0) requirePermission(caller, 'audience_lists.delete')
}

/** Refuses who may not start such a job. Of an undo, that is the job that it undoes. */
async function requireStarter(context: Context, job: BulkJob, caller: Caller): Promise<void> {
  const { bulkJobs } = context.collections.of(caller.organizationId)
  const undone = job.undoes && (await bulkJobs.findOne({ _id: job.undoes }))
  const { kind } = undone ?? job
  const change = changeOf(undone ?? job)
  if (kind === 'add_to_list') requirePermission(caller, 'audience_lists.create')
  else if (kind === 'remove_from_list') requirePermission(caller, 'audience_lists.delete')
  else if (change) requireForChange(caller, change)
  else requirePermission(caller, 'audience.delete')
  if (job.kind === 'erase') requirePermission(caller, 'audience.create')
}

/** @throws {AppError} bulk_job.not_found, also for a malformed id */
async function findJob(context: Context, jobId: string, { organizationId }: Caller): Promise<BulkJob> {
  if (!isObjectId(jobId)) throw new AppError('bulk_job.not_found')
  return context.collections.of(organizationId).bulkJobs.get(jobId, 'bulk_job')
}

async function getStatus(context: Context, jobId: string, { caller }: Call): Promise<HttpBody> {
  const job = await findJob(context, jobId, caller)
  if (!mayRead(caller)) await requireStarter(context, job, caller)
  const { state, progress, failedReason } = job
  return json({ state, progress, result: publicResult(job), failedReason })
}

function mayRead({ permissions }: Caller): boolean {
  return permissions === '*' || permissions.includes('audience.read')
}

async function cancelJob(context: Context, jobId: string, { caller }: Call): Promise<Updated> {
  const { bulkJobs } = context.collections.of(caller.organizationId)
  const job = await findJob(context, jobId, caller)
  await requireStarter(context, job, caller)
  if (job.kind === 'erase') throw new AppError('bulk.not_cancellable')
  const cancelled = { state: 'failed', failedReason: CANCELLED_REASON, finishedAt: new Date() }
  await context.store.transaction(async tx => {
    const open = { _id: job._id, state: { $in: unfinished } }
    const { matchedCount } = await bulkJobs.updateOne(open, { $set: cancelled }, { tx })
    if (matchedCount === 0) throw new AppError('bulk.finished')
    const data = { jobId: job._id, actor: actorOf(caller) }
    await addEvents(tx, [event('audience.bulk_cancelled', job, data)])
  })
  return updated()
}

/** Starts the undo of a job: its mark and the new job are one transaction. */
async function undoJob(context: Context, jobId: string, call: Call): Promise<BulkJobStarted> {
  const { caller } = call
  const { bulkJobs } = context.collections.of(caller.organizationId)
  const job = await findJob(context, jobId, caller)
  await requireStarter(context, job, caller)
  const undoneBy = new Types.ObjectId()
  const undo = await context.store.transaction(
    async tx => {
      const current: BulkJob = await bulkJobs.get(job._id, 'bulk_job', { tx })
      refuseUndo(current)
      await bulkJobs.updateOne({ _id: job._id }, { $set: { undoneBy } }, { tx })
      const { changed } = current.result
      const draft = { _id: undoneBy, undoes: job._id, cursor: changed, first: changed }
      return insertJob(context, { ...draft, kind: 'undo', dryRun: false }, call, tx)
    },
    { queue: `bulk jobs of ${caller.organizationId}` },
  )
  context.bulkJob.wake(undo)
  return { jobId: String(undo._id) }
}

function refuseUndo({ kind, dryRun, state, undoneBy, finishedAt }: BulkJob): void {
  if (kind === 'undo' || kind === 'erase' || dryRun) throw new AppError('bulk.not_undoable')
  if (unfinished.includes(state)) throw new AppError('bulk.unfinished')
  if (undoneBy) throw new AppError('bulk.undone')
  if (finishedAt && finishedAt.getTime() < Date.now() - UNDO_MS) throw new AppError('bulk.too_old')
}
