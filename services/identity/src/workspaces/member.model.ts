import { type MemberJson, memberFields } from '@rollcall/protos/gen/identity-v1.ts'
import { presenter } from '@rollcall/store'
import { type PipelineStage, Schema, type Types } from 'mongoose'

/** A person's membership of a workspace. It outlives the account, without taking a seat. */
export type Member = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  workspace: Types.ObjectId
  /** As in the workspace: the list of a person's workspaces is filtered and sorted by them. */
  workspaceName: string
  workspaceImage: string | null
  user: Types.ObjectId
  /** The account was deleted. */
  gone: boolean
  role: string
  roleId: Types.ObjectId
  joinedAt: Date
  createdAt: Date
  updatedAt: Date
}

export const memberSchema = new Schema<Member>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    workspace: { type: Schema.Types.ObjectId, required: true },
    workspaceName: { type: String, required: true },
    workspaceImage: { type: String, default: null },
    user: { type: Schema.Types.ObjectId, required: true },
    gone: { type: Boolean, default: false },
    role: { type: String, required: true },
    roleId: { type: Schema.Types.ObjectId, required: true },
    joinedAt: { type: Date, default: () => new Date() },
  },
  { collection: 'workspace_members', timestamps: true, versionKey: false },
)
memberSchema.index({ organization: 1, workspace: 1, user: 1 }, { unique: true })
memberSchema.index({ organization: 1, user: 1, gone: 1 })
memberSchema.index({ organization: 1, roleId: 1, gone: 1 })

/** What of a membership is public. */
export { memberFields }

const present = presenter<MemberJson>(memberFields)

/** The public record of a membership. */
export function presentMember(member: Member) {
  return present({ ...member, user: member.gone ? null : member.user })
}

/** Hides the ids of accounts that are gone, so that lists are filtered by what they show. */
export const showUser: PipelineStage = { $addFields: { user: { $cond: ['$gone', null, '$user'] } } }
