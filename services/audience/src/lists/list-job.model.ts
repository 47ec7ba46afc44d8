import { createHash } from 'node:crypto'
import type { AppError } from '@rollcall/contract'
import type { Actor } from '@rollcall/rpc'
import { Schema, type Types } from 'mongoose'
import type { AudienceList } from './list.model.ts'

/** Work on the members of a list that may be longer than a request, or than the process it began in. */
export type ListJob = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  /** What is wanted by whom: the same wish finds the job again. */
  key: string
  /** Adds or removes what a filter matches, or drops all members of a list that is deleted. */
  kind: 'add' | 'remove' | 'drop'
  list: Pick<AudienceList, '_id' | 'name'>
  /** As the client wrote it. */
  filter: string
  actor: Actor
  /** How often it was asked for since its outcome was last told. */
  asked: number
  /** How often it had been asked for when the walk through the contacts began that answers it. */
  answers: number
  /** Positions of contacts up to this one are still to be looked at in this walk; of a drop, the steps taken. */
  cursor: number
  /** Members added, or removed, in all walks. */
  moved: number
  /** Contacts that this walk has met, wherever they were. */
  met: number
  /** Steps that failed since the last one that did not. */
  failures: number
  /** A walk has come to its end that began after it was last asked for. */
  done: boolean
  /** Why it ended early, where it did. */
  refusal: Pick<AppError, 'code' | 'details'> | null
  createdAt: Date
  updatedAt: Date
}

/** A job that nobody asks about any more is forgotten. */
const KEPT_SECONDS = 24 * 3600

export const listJobSchema = new Schema<ListJob>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    key: { type: String, required: true },
    kind: { type: String, required: true },
    list: { type: Schema.Types.Mixed, required: true },
    filter: { type: String, default: '' },
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
// What a stop left unfinished is found by every replica, whosever it is.
listJobSchema.index({ done: 1 })

/** The key of a wish. */
export function jobKey({ kind, list, filter, actor }: Pick<ListJob, 'kind' | 'list' | 'filter' | 'actor'>): string {
  const wish = JSON.stringify([kind, list._id, filter, actor.kind, actor.id])
  return createHash('sha256').update(wish).digest('base64url')
}
