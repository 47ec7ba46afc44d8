import { type HttpBody, json } from '@rollcall/contract'
import { type SetUserFeaturesRequest, userWorkspaceFields } from '@rollcall/protos/gen/identity-v1.ts'
import type { ListOfRequest, Updated } from '@rollcall/protos/gen/types.ts'
import type { Caller } from '@rollcall/rpc'
import { changesBetween, runList } from '@rollcall/store'
import type { PipelineStage } from 'mongoose'
import type { Context } from '../context.ts'
import { resolveFeatures, switched } from '../features/switches.ts'
import { changeUser } from './change-user.ts'
import { refuseHigherRank } from './protections.ts'
import { presentUserEmail, userEmailFields } from './user-email.model.ts'

/** Aggregation stage that shows a membership as a workspace of the user. */
const showWorkspace: PipelineStage = {
  $project: {
    role: 1,
    joinedAt: 1,
    workspace: { _id: '$workspace', name: '$workspaceName', image: '$workspaceImage' },
  },
}

/** Lists the workspaces of a user, latest first. */
export async function listUserWorkspaces({ collections }: Context, { id, list }: ListOfRequest, caller: Caller) {
  const { users, members } = collections.of(caller.organizationId)
  const { _id: user } = await users.get(id, 'user')
  return runList({
    scope: members,
    base: { user, gone: false },
    stages: [showWorkspace],
    query: list ?? {},
    fields: userWorkspaceFields,
    defaultSort: { joinedAt: -1 },
  })
}

/** Lists the mails sent to a user, latest first. */
export async function listUserEmails({ collections }: Context, { id, list }: ListOfRequest, caller: Caller) {
  const { users, userEmails } = collections.of(caller.organizationId)
  const { _id: user } = await users.get(id, 'user')
  return runList({
    scope: userEmails,
    base: { user },
    query: list ?? {},
    fields: userEmailFields,
    present: presentUserEmail,
    defaultSort: { queuedAt: -1, _id: -1 },
  })
}

/** Returns all features as they apply to a user. */
export async function getUserFeatures({ collections }: Context, id: string, caller: Caller): Promise<HttpBody> {
  const { users, features } = collections.of(caller.organizationId)
  return json(await resolveFeatures(features, await users.get(id, 'user')))
}

/** Switches features for one user. */
export function setUserFeatures(context: Context, request: SetUserFeaturesRequest, caller: Caller): Promise<Updated> {
  const { id } = request
  const tenant = context.collections.of(caller.organizationId)
  return changeUser(context, id, caller, {
    atOnce: false,
    async decide(user, tx) {
      refuseHigherRank(user, caller)
      const features = await switched(tenant.features, user.features ?? {}, request.features, tx)
      const set = { features }
      const data = { userId: id, features, changes: changesBetween(['features'], user, set) }
      return { set, event: { type: 'user.features_changed', data } }
    },
  })
}
