// Generated from the protos by `npm run generate`. Do not edit.

import type { HttpBody } from './api.ts'
import type { Actor, ActorJson, ListRequest, Updated } from './types.ts'
/** Contacts from CSV, in three steps: upload, start, poll. */
export type Imports = {
  /** Takes a CSV file (multipart form, field `file`), finds its delimiter and encoding, and holds it for 30 minutes. An organization has at most 20 uploads and 1 GiB of them waiting or arriving (settings of the installation); beyond: 429. */
  uploadImport: { kind: 'client_stream'; request: UploadImportRequest; response: HttpBody }
  /** Starts the import of an upload as a background job. An upload starts once, and answers the same job when it is started again; a dry run, which only counts and shows, may come before it, up to 20 times. An organization has at most 20 unfinished jobs, dry runs and undos among them; beyond: 429. An import updates contacts as well, and needs audience.create only: the action follows the method. */
  startImport: { kind: 'unary'; request: StartImportRequest; response: StartImportResponse }
  /** Where the job stands. Poll until its state is completed or failed. */
  getImportStatus: { kind: 'unary'; request: ImportJobRequest; response: HttpBody }
  /** Lists the organization's import jobs, newest first. Honours the shared list parameters. */
  listImportJobs: { kind: 'server_stream'; request: ListRequest; response: HttpBody }
  /** Downloads the rows that failed, with the reasons, to be corrected and uploaded again. The columns that it adds are not imported. A row that could not be read (columns, quote, nul, encoding) fails again until the value in `_uncorrected` stands in none of its cells any more, or `_uncorrected` is emptied where it is right. */
  downloadImportErrors: { kind: 'server_stream'; request: ImportJobRequest; response: HttpBody }
  /** Stops a job that has not finished; what it has done stays. */
  cancelImport: { kind: 'unary'; request: ImportJobRequest; response: Updated }
  /** Takes a finished or cancelled import back as a job of its own, field by field: what nobody has changed since is as it was before, what somebody has changed stays. Once; then 409. It deletes the contacts that the import made, and needs audience.create only. */
  undoImport: { kind: 'unary'; request: ImportJobRequest; response: StartImportResponse }
}

export type UploadImportRequest = {
  /** First message only: the file's name. */
  fileName?: string
  chunk: Buffer
}

export type ImportUpload = {
  importId: string
  headers: string[]
  /** Data rows. */
  rowCount: number
  /** The first three rows, keyed by header. */
  previewRows: unknown
  delimiter: string
  encoding: string
  expiresAt: string
  /** A mapping to start from: header to target. */
  suggestedMapping: Record<string, unknown>
  /** Rows whose email stood in an earlier one, by the suggested mapping. */
  duplicateEmails: number
}

/** ImportUpload as JSON. */
export type ImportUploadJson = {
  importId: string
  headers: string[]
  /** Data rows. */
  rowCount: number
  /** The first three rows, keyed by header. */
  previewRows: unknown
  delimiter: string
  encoding: string
  expiresAt: string
  /** A mapping to start from: header to target. */
  suggestedMapping: Record<string, unknown>
  /** Rows whose email stood in an earlier one, by the suggested mapping. */
  duplicateEmails: number
}

export type StartImportRequest = {
  importId: string
  /** CSV header to target: email, name, tags, unsubscribed or an attribute slug. Must map email and name. */
  mapping: Record<string, string>
  /** What happens to a contact that is known: update (the default) or skip. */
  duplicateStrategy?: 'update' | 'skip'
  /** Added to every imported contact. */
  tags: string[]
  /** What a blank cell does to a known contact's value: ignore (the default) or clear. */
  emptyValues?: 'ignore' | 'clear'
  /** Lists that every imported contact is added to, with the permission audience_lists.create. */
  listIds: string[]
  /** Counts what would become of the rows and shows the first changes, but writes nothing. */
  dryRun?: boolean
}

export type StartImportResponse = {
  jobId: string
}

export type ImportJobRequest = {
  jobId: string
}

export type ImportStatus = {
  /** delayed is reserved: a job that waits for its turn is waiting. */
  state: 'waiting' | 'active' | 'completed' | 'failed' | 'delayed'
  /** 0 to 100; 100 only when complete. */
  progress: number
  result?: ImportResult | null
  failedReason: string
}

/** ImportStatus as JSON. */
export type ImportStatusJson = {
  /** delayed is reserved: a job that waits for its turn is waiting. */
  state: 'waiting' | 'active' | 'completed' | 'failed' | 'delayed'
  /** 0 to 100; 100 only when complete. */
  progress: number
  result: ImportResultJson
  failedReason: string | null
}

export type ImportJob = {
  kind: 'import' | 'dry-run' | 'undo'
  fileName: string
  state: 'waiting' | 'active' | 'completed' | 'failed' | 'delayed'
  progress: number
  result?: ImportResult | null
  failedReason: string
  mapping: Record<string, unknown>
  duplicateStrategy: string
  tags: string[]
  emptyValues: string
  listIds: string[]
  /** Of an undo: the import that it takes back. Of an import: the undo that has taken it back. */
  undoes: string
  undoneBy: string
  createdBy?: Actor | null
  startedAt: string
  finishedAt: string
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
  mapping: Record<string, unknown>
  duplicateStrategy: string
  tags: string[]
  emptyValues: string
  listIds: string[]
  /** Of an undo: the import that it takes back. Of an import: the undo that has taken it back. */
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

/** The outcomes add up to the total once the job is completed. */
export type ImportResult = {
  /** Data rows of the file. Of an undo: contacts that the import had created or updated. */
  total: number
  created: number
  /** Of an undo: contacts that are as they were before. */
  updated: number
  unchanged: number
  /** Of an undo: contacts that stay, since somebody has changed them. */
  skipped: number
  failed: number
  /** Of an undo: contacts that the import had created, and that are gone. */
  removed: number
  /** Rows whose email stood in an earlier one. */
  duplicatesInFile: number
  /** Rows that would have cleared an opt-out. */
  optOutsKept: number
  /** Milliseconds of work so far. */
  durationMs: number
  rowsPerSecond: number
  /** The first hundred. */
  errors: ImportResultRowError[]
  errorsUrl: string
  /** Memberships of lists that are new. */
  addedToLists: number
  /** Of a dry run: what the first rows would create or update. */
  preview: ImportResultRowPreview[]
}

export type ImportResultRowPreview = {
  row: number
  email: string
  outcome: 'created' | 'updated'
  changes: ImportResultFieldChange[]
}

export type ImportResultFieldChange = {
  /** email, name, tags, unsubscribed or attributes.<slug>. */
  field: string
  from: unknown
  to: unknown
}

export type ImportResultRowError = {
  /** 1-based over data rows. */
  row: number
  /** Physical line of the file, from 1. */
  line: number
  /** The header. */
  column: string
  /** The target. */
  field: string
  value: string
  code: string
  message: string
}

/** ImportResult as JSON. */
export type ImportResultJson = {
  /** Data rows of the file. Of an undo: contacts that the import had created or updated. */
  total: number
  created: number
  /** Of an undo: contacts that are as they were before. */
  updated: number
  unchanged: number
  /** Of an undo: contacts that stay, since somebody has changed them. */
  skipped: number
  failed: number
  /** Of an undo: contacts that the import had created, and that are gone. */
  removed: number
  /** Rows whose email stood in an earlier one. */
  duplicatesInFile: number
  /** Rows that would have cleared an opt-out. */
  optOutsKept: number
  /** Milliseconds of work so far. */
  durationMs: number
  rowsPerSecond: number
  /** The first hundred. */
  errors: ImportResultRowErrorJson[]
  errorsUrl: string
  /** Memberships of lists that are new. */
  addedToLists: number
  /** Of a dry run: what the first rows would create or update. */
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
  /** The header. */
  column: string | null
  /** The target. */
  field: string | null
  value: string
  code: string
  message: string
}
