import { AppError } from '@rollcall/contract'
import type { SessionClaims } from '@rollcall/credentials'
import type { Caller } from '@rollcall/rpc'
import type { Filter, Scope } from '@rollcall/store'
import type { ClientSession } from 'mongoose'
import type { Context } from '../context.ts'
import type { User } from '../users/user.model.ts'
import { type Device, MAX_USER_AGENT_LENGTH } from './device.ts'
import type { Session } from './session.model.ts'

/** The credential of a new session. */
export type SignIn = { token: string; expiresAt: Date }

/** Options of a new session: lifetime, device, origin and extra JWT claims. */
export type Beginning = Partial<Pick<Session, 'deviceId' | 'impersonatedBy' | 'origin'>> & {
  lifetimeMs: number
  device: Device
  claims?: Pick<SessionClaims, 'act' | 'scope'>
}

/** Creates a session of a user and signs its JWT, within a transaction. The caller publishes the event. */
export async function beginSession(
  { collections, sessionJwt, quotas }: Context,
  user: User,
  caller: Caller,
  { lifetimeMs, claims, ...fields }: Beginning,
  tx: ClientSession,
): Promise<SignIn & { session: Session }> {
  // JWT times are whole seconds; the session expires in the same second.
  const iat = Math.floor(Date.now() / 1000)
  const exp = iat + Math.floor(lifetimeMs / 1000)
  const expiresAt = new Date(exp * 1000)
  const { sessions } = collections.of(user.organization)
  // Derived sessions count separately, so that a token holder cannot block its creator's sign-in.
  const alike = { user: user._id, origin: fields.origin ? { $ne: null } : null }
  await refuseMoreSessions(sessions, alike, quotas.sessions, tx)
  const session = await sessions.insertOne({ user: user._id, ...seenOf(caller), ...fields, expiresAt }, { tx })
  const { _id: sub, organization: org, role } = user
  const token = sessionJwt.sign({
    sub: String(sub),
    org: String(org),
    sid: String(session._id),
    role,
    iat,
    exp,
    ...claims,
  })
  return { session, token, expiresAt }
}

/**
 * Limits the sessions of one account. Concurrent sign-ins may exceed it slightly.
 * @throws {AppError} quota.too_many_pending
 */
async function refuseMoreSessions(
  sessions: Scope<Session>,
  alike: Filter,
  limit: number,
  tx: ClientSession,
): Promise<void> {
  const live = { ...alike, expiresAt: { $gt: new Date() } }
  if ((await sessions.count(live, { tx })) < limit) return
  throw new AppError('quota.too_many_pending', { limit, what: 'sessions per account', retryAfterSeconds: 60 })
}

/** Returns the caller's address and user agent, truncated for storage. */
export function seenOf({ ip = '', userAgent = '' }: Caller): { ip: string; userAgent: string } {
  return { ip, userAgent: userAgent.slice(0, MAX_USER_AGENT_LENGTH) }
}
