import { AppError, isObjectId } from '@rollcall/contract'
import type { DescribeAttributesResponseDefinition as Definition } from '@rollcall/protos/gen/audience-v1.ts'
import type { StartImportRequest, StartImportResponse } from '@rollcall/protos/gen/import-v1.ts'
import { actorOf, type Call, requirePermission } from '@rollcall/rpc'
import { addEvents, type Draft, event, isDuplicate, objectId } from '@rollcall/store'
import type { ClientSession, Types } from 'mongoose'
import type { Tenant } from '../collections.ts'
import type { Context } from '../context.ts'
import { releaseRoom } from '../uploads/pending.ts'
import type { Upload } from '../uploads/upload.model.ts'
import { queueIdOf } from './import.job.ts'
import type { Import } from './import.model.ts'
import { noCounts } from './import-counters.ts'
import { insertJob } from './insert-job.ts'
import { fieldReaders } from './map-row.ts'

/** How long the file of an unfinished import is kept. */
const RETENTION_MS = 7 * 24 * 3_600_000

/** Creates the job of an upload. Idempotent: starting it again returns the same job. */
export async function startImport(
  context: Context,
  request: StartImportRequest,
  call: Call,
): Promise<StartImportResponse> {
  if (request.listIds.length > 0) requirePermission(call.caller, 'audience_lists.create')
  const collections = context.collections.of(call.caller.organizationId)
  const upload = isObjectId(request.importId) ? objectId(request.importId) : null
  const started = upload && (await collections.imports.findOne({ upload, kind: 'import' }))
  if (started && !request.dryRun) return { jobId: String(started._id) }
  const found = upload && !started ? await collections.uploads.findOne({ _id: upload }) : null
  if (!found || found.expiresAt.getTime() <= context.now()) throw new AppError('import.expired')

  const { definitions } = await context.attributes.describeAttributes({}, call)
  const mapping = readMapping(request.mapping, found.format.headers, definitions)
  const lists = await readLists(context, request.listIds, call)
  const options = { ...optionsOf(request), mapping, lists, createdBy: actorOf(call.caller) }
  const job = await (request.dryRun ? insertDryRun : insertOnce)(context, collections, found, options)
  await context.queue.enqueue(queueIdOf(call.caller.organizationId))
  return { jobId: String(job) }
}

type Options = Pick<Import, 'mapping' | 'duplicateStrategy' | 'emptyValues' | 'tags' | 'lists' | 'createdBy'>

function optionsOf({ duplicateStrategy = 'update', emptyValues = 'ignore', tags }: StartImportRequest) {
  return { duplicateStrategy, emptyValues, tags: [...new Set(tags)] }
}

/** Returns the ids of lists that accept contacts. @throws {AppError} list.unknown, list.archived */
async function readLists({ batches }: Context, ids: readonly string[], call: Call): Promise<Types.ObjectId[]> {
  const listIds = [...new Set(ids.map(id => id.toLowerCase()))]
  if (listIds.length === 0) return []
  const { unknown, archived } = await batches.checkLists({ listIds }, call)
  const refused = ids.findIndex(id => unknown.includes(id.toLowerCase()))
  if (refused !== -1) throw new AppError('list.unknown', { path: `listIds.${refused}` })
  const closed = ids.findIndex(id => archived.includes(id.toLowerCase()))
  if (closed !== -1) throw new AppError('list.archived', { path: `listIds.${closed}` })
  return listIds.map(id => objectId(id))
}

/** Stores a dry run. Its file is kept until the upload expires. */
async function insertDryRun(
  context: Context,
  collections: Tenant,
  upload: Upload,
  options: Options,
): Promise<Types.ObjectId> {
  const { dryRuns: limit } = context.quotas
  if (upload.dryRuns >= limit) throw new AppError('quota.exceeded', { limit, what: 'dry runs per upload' })
  const job = { ...draftOf(upload, options), kind: 'dry-run' as const }
  const change = { $inc: { dryRuns: 1 } }
  return (await context.store.transaction(tx => insertStarted(context, collections, job, change, tx)))._id
}

/** Stores the import. Of concurrent starts, the unique index accepts one; the others return its job. */
async function insertOnce(
  context: Context,
  collections: Tenant,
  upload: Upload,
  options: Options,
): Promise<Types.ObjectId> {
  const { _id } = upload
  const purgeAt = new Date(context.now() + RETENTION_MS)
  const job = { ...draftOf(upload, options), kind: 'import' as const }
  const change = { $set: { purgeAt } }
  await keepFile(collections, _id, purgeAt) // too large for a transaction; first, so that a crash loses no file of a job
  try {
    const inserted = await context.store.transaction(tx => insertStarted(context, collections, job, change, tx))
    await keepFile(collections, _id, purgeAt) // a concurrent start that was refused may have undone the first
    await releaseRoom(collections, _id)
    return inserted._id
  } catch (error) {
    const undone = undoKeeping(collections, upload, purgeAt)
    if (!isDuplicate(error)) {
      await undone.catch(() => undefined) // otherwise the file expires later
      throw error
    }
    const started = await undone
    if (!started) throw error
    return started._id
  }
}

async function keepFile({ chunks }: Tenant, upload: Types.ObjectId, purgeAt: Date): Promise<void> {
  await chunks.updateMany({ upload, purgeAt: { $lt: purgeAt } }, { $set: { purgeAt } })
}

/**
 * Lets the file of a refused start expire like others, unless another start was accepted: returns its job. Looks for that
 * before and after, since the other one keeps the file before and after it stores the job.
 */
async function undoKeeping(collections: Tenant, upload: Upload, purgeAt: Date): Promise<Import | null> {
  const { imports, chunks } = collections
  const of = { upload: upload._id }
  const findStarted = () => imports.findOne({ ...of, kind: 'import' })
  const before = await findStarted()
  if (before) return before
  await chunks.updateMany(of, { $set: { purgeAt: upload.purgeAt } })
  const started = await findStarted()
  if (started) await keepFile(collections, upload._id, purgeAt)
  return started
}

/** Stores a job with its event. The change of the upload conflicts with an erasure of rows in its file. */
async function insertStarted(
  context: Context,
  collections: Tenant,
  draft: Draft<Import>,
  change: object,
  tx: ClientSession,
) {
  await collections.uploads.updateOne({ _id: draft.upload! }, change, { tx })
  const job = await insertJob(context, collections, draft, tx)
  const { _id: jobId, upload: importId, kind, createdBy: actor } = job
  await addEvents(tx, [event('audience.import_started', job, { jobId, importId, dryRun: kind === 'dry-run', actor })])
  return job
}

function draftOf({ _id, fileName, format, rowCount }: Upload, options: Options) {
  return { ...options, upload: _id, fileName, format, total: rowCount, checkpoint: format.start, counts: noCounts }
}

/**
 * Checks the mapping: known headers, known targets, no target twice, email and name mapped.
 * @throws {AppError} request.invalid_field with path mapping.<header>; import.mapping_incomplete
 */
export function readMapping(
  wanted: Record<string, string>,
  headers: readonly string[],
  definitions: readonly Definition[],
): Import['mapping'] {
  const mapping = Object.entries(wanted)
  const targets = new Set([...fieldReaders.keys(), ...definitions.map(({ slug }) => slug)])
  const used = new Set<string>()
  for (const [header, target] of mapping) {
    const refuse = (reason: string) => new AppError('request.invalid_field', { path: `mapping.${header}`, reason })
    if (!headers.includes(header)) throw refuse('is not a header of the file')
    if (!targets.has(target)) throw refuse('is not a field or attribute')
    if (used.has(target)) throw refuse(`${target} is mapped twice`)
    used.add(target)
  }
  if (used.has('email') && used.has('name')) return mapping
  throw new AppError('import.mapping_incomplete')
}
