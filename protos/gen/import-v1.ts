// Generated from the protos by `npm run generate`. Do not edit.

import type { HttpBody } from './api.ts'
import type { ActorJson, ListRequest, Updated } from './types.ts'
/** Imports contacts from CSV in three steps: upload, start, poll. */
export type Imports = {
  /** Uploads a CSV file (multipart form, field `file`), detects its delimiter and encoding, and keeps it for 30 minutes. Use it first: the answer suggests a mapping and shows the first rows. 429 beyond 20 pending uploads or 1 GiB of them per organization (defaults that the installation can change). */
  uploadImport: { kind: 'client_stream'; request: UploadImportRequest; response: HttpBody }
  /** Starts the import of an upload as a background job. Use it after an upload, with the mapping that a person has confirmed; try it with dryRun first. An upload is imported once: starting it again returns the same job. Up to 20 dry runs, which write nothing, may precede it. 429 beyond 20 unfinished jobs per organization, including dry runs and undos. Requires only audience.create, although an import also updates contacts: the action follows the HTTP method. */
  startImport: { kind: 'unary'; request: StartImportRequest; response: StartImportResponse }
  /** Returns the status of an import job. Use it to follow one job and to read its result. Poll until its state is completed or failed. */
  getImportStatus: { kind: 'unary'; request: ImportJobRequest; response: HttpBody }
  /** Lists the organization's import jobs, newest first. Use it to find earlier imports, also those that were started elsewhere. Honours the shared list parameters. */
  listImportJobs: { kind: 'server_stream'; request: ListRequest; response: HttpBody }
  /** Downloads the failed rows with the reasons, to correct and upload again. Use it to let people correct what failed. The added columns are not imported. A row that could not be read (columns, quote, nul, encoding) fails again while any of its cells still has the value in `_uncorrected`. If that value is correct, empty `_uncorrected`. */
  downloadImportErrors: { kind: 'server_stream'; request: ImportJobRequest; response: HttpBody }
  /** Cancels an unfinished job. Use it if the mapping turns out to be wrong while rows are still to come. Changes made until then are kept. */
  cancelImport: { kind: 'unary'; request: ImportJobRequest; response: Updated }
  /** Undoes a finished or cancelled import, as a new job. Use it if an import should not have happened. Restores the earlier value of every field that was not changed since, and deletes the contacts that the import created. Possible once, then 409. Requires only audience.create. */
  undoImport: { kind: 'unary'; request: ImportJobRequest; response: StartImportResponse }
}

export type UploadImportRequest = {
  /** Name of the file, in the first message only. */
  fileName?: string
  chunk: Buffer
}

/** ImportUpload as JSON. */
export type ImportUploadJson = {
  importId: string
  headers: string[]
  /** Data rows. */
  rowCount: number
  /** The first three rows, keyed by header. */
  previewRows: Record<string, string>[]
  delimiter: string
  encoding: string
  expiresAt: string
  /** Suggested mapping of headers to targets. */
  suggestedMapping: Record<string, string>
  /** Rows that repeat the email of an earlier row, by the suggested mapping. */
  duplicateEmails: number
}

export type StartImportRequest = {
  importId: string
  /** Maps CSV headers to targets: email, name, tags, unsubscribed or an attribute slug. Must map email and name. */
  mapping: Record<string, string>
  /** What to do with existing contacts: update (the default) or skip. */
  duplicateStrategy?: 'update' | 'skip'
  /** Added to every imported contact. */
  tags: string[]
  /** What a blank cell does to the value of an existing contact: ignore (the default) or clear. */
  emptyValues?: 'ignore' | 'clear'
  /** Lists that every imported contact is added to. Requires audience_lists.create. */
  listIds: string[]
  /** Writes nothing: counts the outcomes that the rows would have, and previews the first changes. */
  dryRun?: boolean
}

export type StartImportResponse = {
  jobId: string
}

export type ImportJobRequest = {
  jobId: string
}

/** ImportStatus as JSON. */
export type ImportStatusJson = {
  /** A queued job is waiting. delayed is reserved. */
  state: 'waiting' | 'active' | 'completed' | 'failed' | 'delayed'
  /** Percentage from 0 to 100; 100 only when complete. */
  progress: number
  result: ImportResultJson
  failedReason: string | null
}

/** ImportJob as JSON. */
export type ImportJobJson = {
  _id: string
  id: string
  kind: 'import' | 'dry-run' | 'undo'
  fileName: string | null
  state: 'waiting' | 'active' | 'completed' | 'failed' | 'delayed'
  progress: number
  result: ImportResultJson
  failedReason: string | null
  mapping: Record<string, string>
  duplicateStrategy: string
  tags: string[]
  emptyValues: string
  listIds: string[]
  /** For an undo: the import that it undoes. For an import: the undo that has undone it. */
  undoes: string | null
  undoneBy: string | null
  createdBy: ActorJson
  startedAt: string | null
  finishedAt: string | null
  createdAt: string
  updatedAt: string
}

/** The public fields of ImportJob. */
export const importJobFields = {
  'kind': 'string',
  'fileName': 'string',
  'state': 'string',
  'progress': 'number',
  'result': 'object',
  'result.total': 'number',
  'result.created': 'number',
  'result.updated': 'number',
  'result.unchanged': 'number',
  'result.skipped': 'number',
  'result.failed': 'number',
  'result.removed': 'number',
  'result.duplicatesInFile': 'number',
  'result.optOutsKept': 'number',
  'result.durationMs': 'number',
  'result.rowsPerSecond': 'number',
  'result.errors': 'object[]',
  'result.errorsUrl': 'string',
  'result.addedToLists': 'number',
  'result.preview': 'object[]',
  'failedReason': 'string',
  'mapping': 'object',
  'duplicateStrategy': 'string',
  'tags': 'string[]',
  'emptyValues': 'string',
  'listIds': 'objectId[]',
  'undoes': 'objectId',
  'undoneBy': 'objectId',
  'createdBy': 'object',
  'createdBy.kind': 'string',
  'createdBy.id': 'string',
  'createdBy.name': 'string',
  'startedAt': 'date',
  'finishedAt': 'date',
} as const

/** Counts of a job. The outcomes add up to the total once the job is completed. */
export type ImportResultJson = {
  /** Data rows of the file. For an undo: contacts that the import created or updated. */
  total: number
  created: number
  /** For an undo: restored contacts. */
  updated: number
  unchanged: number
  /** For an undo: contacts that were kept because they were changed since. */
  skipped: number
  failed: number
  /** For an undo: deleted contacts, which the import had created. */
  removed: number
  /** Rows that repeat the email of an earlier row. */
  duplicatesInFile: number
  /** Rows that would have cleared an opt-out. */
  optOutsKept: number
  /** Duration in milliseconds, so far. */
  durationMs: number
  rowsPerSecond: number
  /** The first 100 errors. */
  errors: ImportResultRowErrorJson[]
  errorsUrl: string
  /** New list memberships. */
  addedToLists: number
  /** For a dry run: what the first rows would create or update. */
  preview: ImportResultRowPreviewJson[]
}

/** ImportResultRowPreview as JSON. */
export type ImportResultRowPreviewJson = {
  row: number
  email: string
  outcome: 'created' | 'updated'
  changes: ImportResultFieldChangeJson[]
}

/** ImportResultFieldChange as JSON. */
export type ImportResultFieldChangeJson = {
  /** email, name, tags, unsubscribed or attributes.<slug>. */
  field: string
  from: unknown
  to: unknown
}

/** ImportResultRowError as JSON. */
export type ImportResultRowErrorJson = {
  /** 1-based over data rows. */
  row: number
  /** Physical line of the file, from 1. */
  line: number
  /** Header of the column. */
  column: string | null
  /** Target of the column. */
  field: string | null
  value: string
  code: string
  message: string
}
