import type { AppError } from '@rollcall/contract'
import { type BulkJobJson, type BulkResultJson, bulkJobFields } from '@rollcall/protos/gen/audience-v1.ts'
import type { Actor } from '@rollcall/rpc'
import type { Origin } from '@rollcall/runtime'
import { presenter } from '@rollcall/store'
import { Schema, type Types } from 'mongoose'
import type { Erasure } from '../people/erase.step.ts'
import type { Identity } from '../people/identity-of.ts'
import type { ContactsChange } from './plan-change.ts'

/** Work on many contacts that outlasts the request that started it. */
export type BulkJob = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  kind: 'change' | 'delete' | 'undo' | 'erase' | 'add_to_list' | 'remove_from_list'
  dryRun: boolean
  state: 'waiting' | 'active' | 'completed' | 'failed'
  progress: number
  result: BulkResultJson
  failedReason: string | null
  /** The error that failed it, for a caller that waits. */
  refusal: Pick<AppError, 'code' | 'details'> | null
  /** What to change, as JSON: its keys may be ones that the database cannot store. */
  change: string | null
  /** The filter as given; null if ids or emails select. */
  filter: string | null
  /** Ids or email keys that select; empty with a filter. */
  values: string[]
  field: '_id' | 'emailKey'
  /** The time of the request, which relative dates of the filter are relative to. */
  at: Date
  /** With values: the number processed. With a filter or an undo: the position that is yet to be processed, and below. */
  cursor: number
  /** `cursor` at the start. */
  first: number
  /** Steps in a row that were begun and not completed. */
  failures: number
  /** Of an erasure before its first step: the contact as of the request. Undefined in jobs of former releases. */
  identity?: Identity | null
  /** Of an unfinished erasure: whom the services have to erase. */
  erasure: Erasure | null
  undoes: Types.ObjectId | null
  undoneBy: Types.ObjectId | null
  createdBy: Actor
  /** The request that started it, for its events. */
  origin: Origin
  finishedAt: Date | null
  /** It holds addresses, so it is not kept forever. */
  expiresAt: Date
  createdAt: Date
  updatedAt: Date
}

/** The states of a job with work to do. */
export const unfinished: BulkJob['state'][] = ['waiting', 'active']
export const CANCELLED_REASON = 'cancelled'

const DAY_MS = 24 * 3_600_000
const KEPT_MS = 30 * DAY_MS
/** For how long a job can be undone after its end. */
export const UNDO_MS = 7 * DAY_MS

/** The result of a job that has done nothing yet. */
export const noResult: BulkResultJson = {
  matched: 0,
  changed: 0,
  unchanged: 0,
  failed: 0,
  notFound: 0,
  sample: [],
  errors: [],
  services: [],
}

export const bulkJobSchema = new Schema<BulkJob>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    kind: { type: String, required: true },
    dryRun: { type: Boolean, default: false },
    state: { type: String, default: 'waiting' },
    progress: { type: Number, default: 0 },
    result: { type: Schema.Types.Mixed as never, default: () => structuredClone(noResult) },
    failedReason: { type: String, default: null },
    refusal: { type: Schema.Types.Mixed as never, default: null },
    change: { type: String, default: null },
    filter: { type: String, default: null },
    values: { type: [String], default: [] },
    field: { type: String, default: '_id' },
    at: { type: Date, default: () => new Date() },
    cursor: { type: Number, default: 0 },
    first: { type: Number, default: 0 },
    failures: { type: Number, default: 0 },
    identity: { type: Schema.Types.Mixed as never, default: null },
    erasure: { type: Schema.Types.Mixed as never, default: null },
    undoes: { type: Schema.Types.ObjectId, default: null },
    undoneBy: { type: Schema.Types.ObjectId, default: null },
    createdBy: { type: Schema.Types.Mixed, required: true },
    origin: { type: Schema.Types.Mixed as never, required: true },
    finishedAt: { type: Date, default: null },
    expiresAt: { type: Date, default: () => new Date(Date.now() + KEPT_MS) },
  },
  { collection: 'bulk_jobs', timestamps: true, minimize: false, versionKey: false },
)
bulkJobSchema.index({ organization: 1, createdAt: -1, _id: -1 })
bulkJobSchema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 })
// Finds unfinished jobs of all organizations.
bulkJobSchema.index({ state: 1 })

const present = presenter<BulkJobJson>(bulkJobFields)

const shown = Object.keys(bulkJobFields).filter(name => !name.includes('.'))
/** The stored fields that the API shows of a job, without the thousands of values that select contacts. */
export const shownFields = Object.fromEntries([...shown, 'createdAt', 'updatedAt'].map(name => [name, 1 as const]))

/** Returns a job as the API shows it. */
export function publicBulkJob(job: BulkJob): BulkJobJson {
  return present({ ...job, change: changeOf(job), result: publicResult(job) })
}

/** Returns the result of a job as the API shows it: of a change of a list's members, with the numbers of that. */
export function publicResult({ kind, result: stored }: Pick<BulkJob, 'kind' | 'result'>): BulkResultJson {
  const result = { ...stored, services: stored.services ?? [] } // jobs of former releases have none
  if (kind === 'add_to_list') return { ...result, added: result.changed, alreadyMember: result.unchanged }
  return kind === 'remove_from_list' ? { ...result, removed: result.changed } : result
}

/** Returns what a job changes; null for jobs of another kind. */
export function changeOf({ change }: Pick<BulkJob, 'change'>): ContactsChange | null {
  return change === null ? null : JSON.parse(change)
}
