import type { ImpersonateRequest } from '@rollcall/protos/gen/identity-v1.ts'
import { AppError, type Call, type Caller, type HttpBody, json } from '@rollcall/rpc'
import { objectId } from '@rollcall/store'
import type { ClientSession } from 'mongoose'
import type { Context } from '../context.ts'
import { tell } from '../events.ts'
import type { Authority } from '../roles/authority.ts'
import { isPrivileged } from '../roles/built-in.ts'
import { findUser } from '../users/change-user.ts'
import { refuseOneself } from '../users/protections.ts'
import { presentUser, type User } from '../users/user.model.ts'
import { blockedAccount } from './bearer.ts'
import { beginSession, seenOf } from './begin-session.ts'
import { deviceOf } from './device.ts'
import type { Origin } from './session.model.ts'

const lifetimeMs = 30 * 60_000

/** Begins a session in which the caller acts as a user, read-only. It leaves its trace in the trails of both. */
export async function impersonate(
  context: Context,
  { userId }: ImpersonateRequest,
  { caller }: Call,
): Promise<HttpBody> {
  return context.store.transaction(async tx => {
    const user = await findUser(context.within(caller.organizationId).users, userId, tx)
    refuseOneself(user, caller)
    if (!mayImpersonate(caller, user)) throw new AppError('forbidden', { message: refusal })
    if (user.blocked) throw blockedAccount()
    return json({ ...(await actAs(context, user, caller, tx)), user: presentUser(user) })
  })
}

const refusal = 'Only an owner, or for anyone but owners an admin, may act as another user.'

/** Owner and admin, with all that their role gives them: a JWT of a scope has less. Nobody gets beyond themselves. */
export function mayImpersonate({ role, permissions }: Authority, user: Pick<User, 'role'>): boolean {
  return isPrivileged(role) && permissions === '*' && (role === 'owner' || user.role !== 'owner')
}

async function actAs(context: Context, user: User, caller: Caller, tx: ClientSession) {
  const impersonatedBy = objectId(caller.userId)
  const { session, token, expiresAt } = await beginSession(
    context,
    user,
    caller,
    {
      lifetimeMs,
      device: deviceOf(seenOf(caller).userAgent),
      impersonatedBy,
      origin: originOf(caller),
      claims: { act: { sub: String(impersonatedBy) } },
    },
    tx,
  )
  const { organization, _id: subject, createdAt: at } = session
  const data = { userId: String(user._id), ...seenOf(caller), at, expiresAt }
  await tell(context, caller, 'session.impersonated', { organization, subject, data }, tx, [caller.userId, user._id])
  return { token, expiresAt }
}

function originOf({ tokenId, sessionId }: Caller): Origin {
  return tokenId === undefined ? { kind: 'session', id: objectId(sessionId) } : { kind: 'token', id: objectId(tokenId) }
}
