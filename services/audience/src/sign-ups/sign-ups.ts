import { isObjectId } from '@rollcall/contract'
import type { CheckTargetsRequest, CheckTargetsResponse } from '@rollcall/protos/gen/audience-v1.ts'
import type { Call, Handlers } from '@rollcall/rpc'
import { readDefinitions } from '../attributes/definitions.ts'
import type { Context } from '../context.ts'
import { applySignUp } from './apply-sign-up.ts'

/** Handlers for the forms of the content service. */
export const signUps = (context: Context): Handlers<'rollcall.audience.v1.SignUps'> => ({
  applySignUp: (request, call) => applySignUp(context, request, call),
  checkTargets: (request, call) => checkTargets(context, request, call),
})

async function checkTargets(
  { collections }: Context,
  request: CheckTargetsRequest,
  { caller }: Call,
): Promise<CheckTargetsResponse> {
  const { attributes, lists } = collections.of(caller.organizationId)
  const definitions = await readDefinitions(attributes)
  const ids = request.lists.filter(isObjectId)
  const found = await lists.find({ _id: { $in: ids }, archived: false }, { projection: { _id: 1 } })
  const known = new Set(found.map(({ _id }) => String(_id)))
  const required = [...definitions.values()].filter(definition => definition.required)
  return {
    unknownAttributes: request.attributes.filter(slug => !definitions.has(slug)),
    unknownLists: request.lists.filter(id => !known.has(id.toLowerCase())),
    missingAttributes: required.map(({ slug }) => slug).filter(slug => !request.attributes.includes(slug)),
  }
}
