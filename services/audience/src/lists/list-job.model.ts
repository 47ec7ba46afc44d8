import { createHash } from 'node:crypto'
import type { AppError } from '@rollcall/contract'
import type { Actor } from '@rollcall/rpc'
import { Schema, type Types } from 'mongoose'
import type { AudienceList } from './list.model.ts'

/** Work on the members of a list that can outlast a request and the process that started it. */
export type ListJob = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  /** Identifies the request and its actor: the same request again finds the job. */
  key: string
  /** Adds or removes what a filter matches, or drops all members of a deleted list. */
  kind: 'add' | 'remove' | 'drop'
  list: Pick<AudienceList, '_id' | 'name'>
  /** As the client wrote it. */
  filter: string
  /** The time that the relative dates of the filter are relative to: that of the request. */
  at: Date
  actor: Actor
  /** The requested revision: how often it was requested since its result was last returned. */
  asked: number
  /** The processed revision: `asked` at the start of the current pass. */
  answers: number
  /** The pass has yet to process contacts up to this position. Of a drop: the steps taken. */
  cursor: number
  /** Members added or removed, in all passes. */
  moved: number
  /** Contacts that the filter matched in this pass, moved or not. */
  met: number
  /** Steps that failed in a row. */
  failures: number
  /** A pass is complete that started after the last request. */
  done: boolean
  /** The error that ended it early, if any. */
  refusal: Pick<AppError, 'code' | 'details'> | null
  createdAt: Date
  updatedAt: Date
}

/** A completed job is deleted after this time without a request. */
const KEPT_SECONDS = 24 * 3600

export const listJobSchema = new Schema<ListJob>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    key: { type: String, required: true },
    kind: { type: String, required: true },
    list: { type: Schema.Types.Mixed, required: true },
    filter: { type: String, default: '' },
    at: { type: Date, default: () => new Date() },
    actor: { type: Schema.Types.Mixed, required: true },
    asked: { type: Number, default: 1 },
    answers: { type: Number, default: 1 },
    cursor: { type: Number, default: 0 },
    moved: { type: Number, default: 0 },
    met: { type: Number, default: 0 },
    failures: { type: Number, default: 0 },
    done: { type: Boolean, default: false },
    refusal: { type: Schema.Types.Mixed, default: null },
  },
  { collection: 'list_jobs', timestamps: true, minimize: false, versionKey: false },
)
listJobSchema.index({ organization: 1, key: 1 }, { unique: true })
listJobSchema.index({ updatedAt: 1 }, { expireAfterSeconds: KEPT_SECONDS, partialFilterExpression: { done: true } })
// Finds unfinished jobs of all organizations.
listJobSchema.index({ done: 1 })

/** Returns the key of a request. */
export function jobKey({ kind, list, filter, actor }: Pick<ListJob, 'kind' | 'list' | 'filter' | 'actor'>): string {
  const request = JSON.stringify([kind, list._id, filter, actor.kind, actor.id])
  return createHash('sha256').update(request).digest('base64url')
}
