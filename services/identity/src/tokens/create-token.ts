import { AppError, type HttpBody, json } from '@rollcall/contract'
import { formatToken, generateSecret, previewToken } from '@rollcall/credentials'
import type { CreateTokenRequest } from '@rollcall/protos/gen/identity-v1.ts'
import { actorOf, type Caller } from '@rollcall/rpc'
import { objectId, type Scope } from '@rollcall/store'
import type { ClientSession } from 'mongoose'
import type { Context } from '../context.ts'
import { publish } from '../events.ts'
import { keepQuota } from '../organizations/quotas.ts'
import { authorityOf } from '../roles/authority.ts'
import { outranks } from '../roles/built-in.ts'
import { refuseExcess } from '../roles/permissions.ts'
import { permissionsOfRole, type Role } from '../roles/role.model.ts'
import { holdCredential } from '../sessions/credential.ts'
import { roleQueue } from '../users/member-role.ts'
import { readExpiry } from './expiry.ts'
import { showToken, type Token } from './token.model.ts'

type TokenRole = Pick<Token, 'role' | 'roleId'>

/**
 * Creates a token with the given role, or with the role of the creating token. Without either, it authorizes as its
 * creator. It may not exceed the caller's permissions or rank. Only the response contains the secret.
 */
export async function createToken(context: Context, request: CreateTokenRequest, caller: Caller): Promise<HttpBody> {
  const { organizationId, userId, scope } = caller
  // A token has no scope and outlives the session: it would make a short delegation permanent.
  if (scope) throw new AppError('token.scope_refused')
  const { name, description = '' } = request
  const expiresAt = readExpiry(request.expiresAt)
  const secret = generateSecret()
  const tenant = context.collections.of(organizationId)
  const { tokens } = tenant
  const created = await context.store.transaction(
    async tx => {
      await holdCredential(tenant, caller, tx)
      await keepQuota(context, organizationId, 'tokens', tx)
      const { organization, _id: subject } = await tokens.insertOne(
        {
          hash: context.secrets.token.hash(secret),
          tokenPreview: previewToken(organizationId, secret),
          name,
          description,
          expiresAt,
          ...(await roleOfNewToken(context, request.role, caller, tx)),
          createdBy: actorOf(caller),
          creator: objectId(userId),
        },
        { tx },
      )
      const token = (await showToken(tokens, subject, tx))!
      await publish(context, caller, 'token.created', { organization, subject, data: { token } }, tx)
      return token
    },
    { queue: [`tokens ${organizationId}`, roleQueue(organizationId).queue] },
  )
  return json({ ...created, token: formatToken(organizationId, secret) })
}

async function roleOfNewToken(
  { collections }: Context,
  name: string | undefined,
  caller: Caller,
  tx: ClientSession,
): Promise<TokenRole> {
  const { tokens, users, roles } = collections.of(caller.organizationId)
  if (name !== undefined) {
    const role = await carry(roles, { name, kind: { $in: ['api', 'both'] } }, caller, tx)
    if (!role) throw new AppError('role.unknown_for_tokens', { name })
    // A session's token never exceeds its user, but one of a token might exceed the creating token.
    if (caller.tokenId !== undefined && outranks(name, caller.role))
      throw new AppError('role.above_rank', { role: name })
    return role
  }
  const parent = caller.tokenId === undefined ? undefined : await tokens.findOne({ _id: caller.tokenId }, { tx })
  if (parent?.roleId) {
    const role = await carry(roles, { _id: parent.roleId }, caller, tx)
    if (!role) throw goneMeanwhile()
    return role
  }
  const creator = await users.findOne({ _id: caller.userId }, { tx })
  const authority = creator && (await authorityOf(roles, creator, tx))
  if (!authority || parent === null) throw goneMeanwhile()
  refuseExcess(authority.permissions, caller.permissions)
  return { role: null, roleId: null }
}

/** Increments the token count of a role. The write conflicts with concurrent changes of the role. */
async function carry(roles: Scope<Role>, filter: object, caller: Caller, tx: ClientSession): Promise<TokenRole | null> {
  const role = await roles.findOneAndUpdate(filter, { $inc: { tokenCount: 1 } }, { tx })
  if (!role) return null
  refuseExcess(permissionsOfRole(role), caller.permissions)
  return { role: role.name, roleId: role._id }
}

/** Creates the error for a caller whose credential ended during the request. */
function goneMeanwhile(): AppError {
  return new AppError('token.invalid')
}
