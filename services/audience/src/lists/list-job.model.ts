import type { Actor } from '@rollcall/rpc'
import { Schema, type Types } from 'mongoose'
import type { AudienceList } from './list.model.ts'

/** The members of a deleted list, which a job removes. */
export type ListJob = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  /** Each list is deleted once. */
  key: string
  kind: 'drop'
  list: Pick<AudienceList, '_id' | 'name'>
  actor: Actor
  createdAt: Date
  updatedAt: Date
}

export const listJobSchema = new Schema<ListJob>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    key: { type: String, required: true },
    kind: { type: String, required: true },
    list: { type: Schema.Types.Mixed, required: true },
    actor: { type: Schema.Types.Mixed, required: true },
  },
  { collection: 'list_jobs', timestamps: true, minimize: false, versionKey: false },
)
listJobSchema.index({ organization: 1, key: 1 }, { unique: true })
