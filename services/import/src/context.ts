import type { CsvLimits } from '@rollcall/csv'
import type { JobQueue } from '@rollcall/jobs'
import type { Call, Client } from '@rollcall/rpc'
import type { Logger } from '@rollcall/runtime'
import { type Scope, type Store, scoped } from '@rollcall/store'
import type { Model } from 'mongoose'
import { type FailedRow, failedRowSchema, type Import, importSchema } from './imports/import.model.ts'
import { type Pending, pendingSchema } from './uploads/pending.model.ts'
import { type Chunk, chunkSchema, type Upload, uploadSchema } from './uploads/upload.model.ts'

/** The collections of the import service. */
export type Models = {
  uploads: Model<Upload>
  chunks: Model<Chunk>
  pending: Model<Pending>
  imports: Model<Import>
  failedRows: Model<FailedRow>
}

/** The collections as one organization sees them. */
export type Collections = {
  uploads: Scope<Upload>
  chunks: Scope<Chunk>
  pending: Scope<Pending>
  imports: Scope<Import>
  failedRows: Scope<FailedRow>
}

/** What an organization may have at once. */
export type Quotas = {
  pendingUploads: number
  pendingUploadBytes: number
  /** Imports, dry runs and undos together. */
  unfinishedJobs: number
  /** Of one upload, finished ones too. */
  dryRuns: number
}

/** What handlers and the job work with. */
export type Context = {
  store: Store
  models: Models
  logger: Logger
  /** The audience, asked for attribute definitions and given the rows. */
  attributes: Client<'rollcall.audience.v1.Attributes'>
  batches: Client<'rollcall.audience.v1.Batches'>
  queue: JobQueue
  limits: CsvLimits
  maxUploadBytes: number
  uploadTtlMs: number
  quotas: Quotas
  /** The time, in milliseconds since the epoch. */
  now: () => number
  /** After so long a turn of work ends, and another organization's begins. */
  turnMs: number
  /** The collections as the caller's organization sees them. */
  of(caller: Pick<Call['caller'], 'organizationId'>): Collections
}

/** Declares the collections, and gives each organization its view of them. */
export function collectionsOf(store: Store): Pick<Context, 'models' | 'of'> {
  const models: Models = {
    uploads: store.model('Upload', uploadSchema),
    chunks: store.model('Chunk', chunkSchema),
    pending: store.model('Pending', pendingSchema),
    imports: store.model('Import', importSchema),
    failedRows: store.model('FailedRow', failedRowSchema),
  }
  return {
    models,
    of: ({ organizationId }) => ({
      uploads: scoped(models.uploads, organizationId),
      chunks: scoped(models.chunks, organizationId),
      pending: scoped(models.pending, organizationId),
      imports: scoped(models.imports, organizationId),
      failedRows: scoped(models.failedRows, organizationId),
    }),
  }
}
