import { AppError, type HttpBody, json } from '@rollcall/contract'
import type { ImpersonateRequest } from '@rollcall/protos/gen/identity-v1.ts'
import type { Call, Caller } from '@rollcall/rpc'
import { objectId } from '@rollcall/store'
import type { ClientSession, Types } from 'mongoose'
import type { Context } from '../context.ts'
import { publish } from '../events.ts'
import type { Authority } from '../roles/authority.ts'
import { isPrivileged } from '../roles/built-in.ts'
import { refuseOneself } from '../users/protections.ts'
import { presentUser, type User } from '../users/user.model.ts'
import { beginSession, type SignIn, seenOf } from './begin-session.ts'
import { blockedAccount, lifetimeWithin, originCredential } from './credential.ts'
import { deviceOf } from './device.ts'
import type { Origin } from './session.model.ts'

const MAX_LIFETIME_MS = 30 * 60_000

/** Creates a read-only session in which the caller acts as a user. Both audit trails record it. */
export async function impersonate(
  context: Context,
  { userId, reason }: ImpersonateRequest,
  { caller }: Call,
): Promise<HttpBody> {
  if (!mayImpersonateAnyone(caller)) throw new AppError('impersonation.not_allowed')
  const tenant = context.collections.of(caller.organizationId)
  const origin = originOf(caller)
  const credential = await context.store.readLatest(session =>
    originCredential(context.collections.of(caller.organizationId, session), origin, objectId(caller.userId)),
  )
  const lifetimeMs = lifetimeWithin(credential, MAX_LIFETIME_MS)
  return context.store.transaction(async tx => {
    const user = await tenant.users.get(userId, 'user', { tx })
    refuseOneself(user, caller)
    if (!mayImpersonate(caller, user)) throw new AppError('impersonation.not_allowed')
    if (user.blocked) throw blockedAccount()
    return json({
      ...(await actAs(context, user, { origin, lifetimeMs, reason }, caller, tx)),
      user: presentUser(user),
    })
  })
}

/** Whether someone may impersonate a user: only if this adds no permissions. */
export function mayImpersonate(authority: Authority, user: Pick<User, 'role'>): boolean {
  return mayImpersonateAnyone(authority) && (authority.role === 'owner' || user.role !== 'owner')
}

/** Owners and admins, unless the credential is limited to a scope. */
function mayImpersonateAnyone({ role, permissions }: Authority): boolean {
  return isPrivileged(role) && permissions === '*'
}

async function actAs(
  context: Context,
  user: User,
  { reason, ...hanging }: { origin: Origin; lifetimeMs: number; reason: string | undefined },
  caller: Caller,
  tx: ClientSession,
): Promise<SignIn & { sessionRef: Types.ObjectId }> {
  const impersonatedBy = objectId(caller.userId)
  const { session, token, expiresAt } = await beginSession(
    context,
    user,
    caller,
    {
      ...hanging,
      device: deviceOf(seenOf(caller).userAgent),
      impersonatedBy,
      claims: { act: { sub: String(impersonatedBy) } },
    },
    tx,
  )
  const { organization, _id: subject, createdAt: at } = session
  const data = { userId: String(user._id), ...seenOf(caller), at, expiresAt, ...(reason && { reason }) }
  await publish(context, caller, 'session.impersonated', { organization, subject, data }, tx, [caller.userId, user._id])
  return { token, expiresAt, sessionRef: session.ref }
}

function originOf({ tokenId, sessionId }: Caller): Origin {
  return tokenId === undefined ? { kind: 'session', id: objectId(sessionId) } : { kind: 'token', id: objectId(tokenId) }
}
