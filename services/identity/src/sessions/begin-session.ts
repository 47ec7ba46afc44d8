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

/** How long a session lasts, where it runs, what it hangs on, and what its JWT says besides whose it is. */
export type Beginning = Partial<Pick<Session, 'deviceId' | 'impersonatedBy' | 'origin'>> & {
  lifetimeMs: number
  device: Device
  claims?: Pick<SessionClaims, 'act' | 'scope'>
}

/** Begins a session of a user and signs its JWT, within a transaction. What is to be told of it is up to the caller. */
export async function beginSession(
  { collections, sessionJwt, quotas }: Context,
  user: User,
  caller: Caller,
  { lifetimeMs, claims, ...fields }: Beginning,
  tx: ClientSession,
): Promise<SignIn & { session: Session }> {
  // The JWT counts in seconds: the session ends in the same one.
  const iat = Math.floor(Date.now() / 1000)
  const exp = iat + Math.floor(lifetimeMs / 1000)
  const expiresAt = new Date(exp * 1000)
  const { sessions } = collections.of(user.organization)
  // What hangs on other credentials counts apart: whoever holds a token must not keep its creator from signing in.
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

/** Bounds how much one account stores; several at once may exceed the limit by a few. @throws {AppError} too_many_pending */
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

/** What is seen of whoever calls. */
export function seenOf({ ip = '', userAgent = '' }: Caller): { ip: string; userAgent: string } {
  return { ip, userAgent: userAgent.slice(0, MAX_USER_AGENT_LENGTH) }
}
