import { type MemberJson, memberFields } from '@rollcall/protos/gen/identity-v1.ts'
import { presenter } from '@rollcall/store'
import { type PipelineStage, Schema, type Types } from 'mongoose'

/** A membership of a workspace. It remains after the account is deleted, without occupying a seat. */
export type Member = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  workspace: Types.ObjectId
  /** Copies from the workspace, so that a user's list of workspaces can filter and sort by them. */
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

/** Public fields of a membership. */
export { memberFields }

const present = presenter<MemberJson>(memberFields)

/** Returns the public record of a membership. */
export function presentMember(member: Member) {
  return present({ ...member, user: member.gone ? null : member.user })
}

/** Hides the ids of deleted accounts, so that filters match what lists show. */
export const showUser: PipelineStage = { $addFields: { user: { $cond: ['$gone', null, '$user'] } } }
