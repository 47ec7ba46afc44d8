import type { DescribeAttributesResponseDefinition as Definition } from '@rollcall/protos/gen/audience-v1.ts'
import type { StartImportRequest, StartImportResponse } from '@rollcall/protos/gen/import-v1.ts'
import { AppError, actorOf, type Call } from '@rollcall/rpc'
import { isDuplicate, objectId } from '@rollcall/store'
import type { Types } from 'mongoose'
import type { Collections, Context } from '../context.ts'
import type { Upload } from '../uploads/upload.model.ts'
import { queueIdOf } from './import.job.ts'
import type { Import } from './import.model.ts'

const expired = 'Import data expired. Please re-upload the CSV file.'
const fields = ['email', 'name', 'tags', 'unsubscribed']
/** How long the file of a started import is kept, should nobody finish it. */
const retentionMs = 7 * 24 * 3_600_000

/** Makes the job of an upload, once: starting it again answers the same job. */
export async function startImport(
  context: Context,
  request: StartImportRequest,
  call: Call,
): Promise<StartImportResponse> {
  const collections = context.of(call.caller)
  const upload = /^[0-9a-f]{24}$/i.test(request.importId) ? objectId(request.importId) : null
  const started = upload && (await collections.imports.findOne({ upload }))
  if (started) return { jobId: String(started._id) }
  const found = upload && (await collections.uploads.findOne({ _id: upload }))
  if (!found || found.expiresAt.getTime() <= Date.now()) throw new AppError('bad_request', { message: expired })

  const { definitions } = await context.attributes.describeAttributes({}, call)
  const mapping = readMapping(request.mapping, found.format.headers, definitions)
  const job = await insertOnce(collections, found, { ...optionsOf(request), mapping, createdBy: actorOf(call.caller) })
  await context.queue.enqueue(queueIdOf(call.caller.organizationId))
  return { jobId: String(job) }
}

type Options = Pick<Import, 'mapping' | 'duplicateStrategy' | 'emptyValues' | 'tags' | 'createdBy'>

function optionsOf({ duplicateStrategy = 'update', emptyValues = 'ignore', tags }: StartImportRequest) {
  return { duplicateStrategy, emptyValues, tags: [...new Set(tags)] }
}

/** Of two starts at once the unique index lets one through; the other answers its job. */
async function insertOnce(
  { imports, chunks, uploads }: Collections,
  upload: Upload,
  options: Options,
): Promise<Types.ObjectId> {
  const { _id, fileName, format, rowCount } = upload
  const purgeAt = new Date(Date.now() + retentionMs)
  await Promise.all([
    chunks.updateMany({ upload: _id }, { $set: { purgeAt } }),
    uploads.updateOne({ _id }, { $set: { purgeAt } }),
  ])
  const counts = { created: 0, updated: 0, unchanged: 0, skipped: 0, failed: 0, optOutsKept: 0 }
  const draft = { ...options, upload: _id, fileName, format, total: rowCount, checkpoint: format.start, counts }
  try {
    return (await imports.insertOne(draft))._id
  } catch (error) {
    const other = isDuplicate(error) ? await imports.findOne({ upload: _id }) : null
    if (!other) throw error
    return other._id
  }
}

/**
 * Reads the mapping: every header one of the file's, every target a field or attribute, none twice, email and name there.
 * @throws {AppError} invalid_field with path mapping.<header>; bad_request with path mapping
 */
export function readMapping(
  text: string,
  headers: readonly string[],
  definitions: readonly Definition[],
): Import['mapping'] {
  const mapping = Object.entries(JSON.parse(text) as Record<string, string>)
  const targets = new Set([...fields, ...definitions.map(({ slug }) => slug)])
  const used = new Set<string>()
  for (const [header, target] of mapping) {
    const refuse = (reason: string) => new AppError('invalid_field', { path: `mapping.${header}`, reason })
    if (!headers.includes(header)) throw refuse('is not a header of the file')
    if (!targets.has(target)) throw refuse('is not a field or attribute')
    if (used.has(target)) throw refuse(`${target} is mapped twice`)
    used.add(target)
  }
  if (used.has('email') && used.has('name')) return mapping
  throw new AppError('bad_request', { message: 'mapping must include email and name', path: 'mapping' })
}
