import { AppError, type HttpBody, json } from '@rollcall/contract'
import { CsvError, type CsvFormat, type CsvLimits, openCsv, type Row, readCsv, suggestMapping } from '@rollcall/csv'
import type { UploadImportRequest } from '@rollcall/protos/gen/import-v1.ts'
import { actorOf, type Call } from '@rollcall/rpc'
import { addEvents, event } from '@rollcall/store'
import { Types } from 'mongoose'
import type { Tenant } from '../collections.ts'
import type { Context } from '../context.ts'
import { EmailIndex, recordEmail } from './email-index.ts'
import { type Room, releaseRoom, reserveRoom } from './pending.ts'
import { readStored, storeWhilePassing } from './spool.ts'
import type { Upload } from './upload.model.ts'

/** The gateway cuts off slower uploads. */
const MIN_BYTES_PER_SECOND = 16 * 1024
/** Uploads are kept this long after they expire, to allow for clock skew of the database. */
const PURGE_SLACK_MS = 3_600_000
const PREVIEW_LENGTH = 3
/** Small enough not to block the event loop. */
const BATCH_ROWS = 200
/** Characters, of up to 3 bytes each. A failed row is stored in one record, which MongoDB limits to 16 MiB. */
const MAX_ROW_LENGTH = 4 * 1024 * 1024

/** The result of one pass over a file. */
type Survey = {
  format: CsvFormat
  rowCount: number
  preview: Row[]
  mapping: Record<string, string>
  duplicateEmails: number
}

/**
 * Stores a file in one streaming pass that detects its format and counts its rows. The file is never in memory; a refused
 * one is deleted.
 */
export async function uploadImport(
  context: Context,
  requests: AsyncIterable<UploadImportRequest>,
  call: Call,
): Promise<HttpBody> {
  const collections = context.collections.of(call.caller.organizationId)
  const upload = new Types.ObjectId()
  const longestMs = (context.maxUploadBytes / MIN_BYTES_PER_SECOND) * 1000
  const purgeAt = new Date(context.now() + longestMs + context.uploadTtlMs + PURGE_SLACK_MS)
  let fileName: string | undefined
  const room = await reserveRoom(context, collections, upload)
  const content = fileContent(requests, context.maxUploadBytes, room, name => {
    fileName = name
  })
  try {
    const slugs = await attributeSlugs(context, call)
    const survey = await surveyUpload(
      collections,
      upload,
      storeWhilePassing(collections.chunks, upload, purgeAt, content),
      slugs,
      context.limits,
    )
    const { format, rowCount } = survey
    const expiresAt = new Date(context.now() + context.uploadTtlMs)
    await room.settle(expiresAt)
    const record = { _id: upload, fileName: fileName ?? null, format, rowCount, expiresAt, purgeAt }
    await context.store.transaction(async tx => {
      await collections.uploads.insertOne(record, { tx })
      await addEvents(tx, [uploadedEvent(collections, record, call)])
    })
    return json(present(upload, survey, expiresAt))
  } catch (error) {
    await discard(collections, upload).catch(() => undefined) // otherwise it expires like others
    throw error instanceof CsvError ? new AppError(`file.${error.code}`, { reason: error.message }) : error
  }
}

function uploadedEvent({ uploads }: Tenant, { _id, fileName, rowCount }: NewUpload, { caller }: Call) {
  const data = { importId: _id, ...(fileName !== null && { fileName }), rows: rowCount, actor: actorOf(caller) }
  return event('audience.import_uploaded', { _id, organization: uploads.organization }, data)
}

type NewUpload = Pick<Upload, '_id' | 'fileName' | 'rowCount'>

async function discard(collections: Tenant, upload: Types.ObjectId): Promise<void> {
  await collections.chunks.deleteMany({ upload })
  await releaseRoom(collections, upload)
}

async function attributeSlugs({ attributes }: Context, { caller, requestId, signal }: Call): Promise<string[]> {
  const { definitions } = await attributes.describeAttributes({}, { caller, requestId, signal })
  return definitions.map(({ slug }) => slug)
}

async function* fileContent(
  requests: AsyncIterable<UploadImportRequest>,
  maxBytes: number,
  room: Room,
  named: (name: string) => void,
): AsyncGenerator<Buffer> {
  let bytes = 0
  for await (const { fileName, chunk } of requests) {
    if (fileName !== undefined) named(fileName)
    bytes += chunk.length
    if (bytes > maxBytes) throw new AppError('upload.too_large', { maxBytes })
    await room.take(bytes)
    if (chunk.length > 0) yield chunk
  }
}

/** Surveys the file as it arrives, and again from the store if a later byte showed another encoding. */
async function surveyUpload(
  { chunks }: Tenant,
  upload: Types.ObjectId,
  source: AsyncIterable<Buffer>,
  slugs: string[],
  limits: CsvLimits,
): Promise<Survey> {
  const { format, body } = await openCsv(source, { limits })
  const { otherEncoding, ...survey } = await surveyRows(body, format, slugs, limits)
  if (otherEncoding === null) return survey
  const again = await openCsv(readStored(chunks, upload), { encoding: otherEncoding, limits })
  return surveyRows(again.body, again.format, slugs, limits)
}

async function surveyRows(body: AsyncIterable<Uint8Array>, format: CsvFormat, slugs: string[], limits: CsvLimits) {
  const mapping = suggestMapping(format.headers, slugs)
  const emailColumn = format.headers.findIndex(header => mapping[header] === 'email')
  const emails = new EmailIndex()
  const preview: Row[] = []
  let rowCount = 0
  let duplicateEmails = 0
  const reading = readCsv(body, format, { limits, batchRows: BATCH_ROWS })
  for await (const { rows } of reading) {
    for (const row of rows) {
      refuseLongField(row, format, limits)
      refuseLongRow(row)
      rowCount = row.row
      if (preview.length < PREVIEW_LENGTH) preview.push(row)
      if (recordEmail(emails, row, emailColumn) > 0) duplicateEmails++
    }
  }
  if (rowCount === 0) throw new AppError('file.no_rows')
  return { format, rowCount, preview, mapping, duplicateEmails, otherEncoding: reading.otherEncoding() }
}

function refuseLongField({ error, line }: Row, { headers }: CsvFormat, { fieldLength }: CsvLimits): void {
  if (error?.code !== 'length') return
  throw new AppError('file.field_too_long', { line, column: headers[error.column]!, maxLength: fieldLength })
}

function refuseLongRow({ cells, line }: Row): void {
  const length = cells.reduce((sum, cell) => sum + cell.length, 0)
  if (length > MAX_ROW_LENGTH) throw new AppError('file.row_too_long', { line, maxLength: MAX_ROW_LENGTH })
}

function present(
  upload: Types.ObjectId,
  { format, rowCount, preview, mapping, duplicateEmails }: Survey,
  expiresAt: Date,
) {
  return {
    importId: String(upload),
    headers: format.headers,
    rowCount,
    previewRows: preview.map(row => keyedByHeader(format.headers, row.cells)),
    delimiter: format.delimiter,
    encoding: format.encoding,
    expiresAt,
    suggestedMapping: mapping,
    duplicateEmails,
  }
}

/** Returns an object without a prototype: a header can be `__proto__`. */
function keyedByHeader(headers: readonly string[], cells: readonly string[]): Record<string, string> {
  const record: Record<string, string> = Object.create(null)
  for (const [index, header] of headers.entries()) record[header] = cells[index] ?? ''
  return record
}
