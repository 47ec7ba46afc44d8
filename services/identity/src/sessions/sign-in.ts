import type { Call, Caller } from '@rollcall/rpc'
import type { ClientSession } from 'mongoose'
import type { Context } from '../context.ts'
import { tell } from '../events.ts'
import type { User } from '../users/user.model.ts'
import { deviceOf, maxUserAgentLength } from './device.ts'

/** The credential of a new session. */
export type SignIn = { token: string; expiresAt: Date }

/** Begins a session of a user, within a transaction. */
export async function signIn(context: Context, user: User, { caller }: Call, tx: ClientSession): Promise<SignIn> {
  const { within, sessionJwt, sessionLifetimeMs } = context
  // The JWT counts in seconds: the session ends in the same one.
  const issuedAtSeconds = Math.floor(Date.now() / 1000)
  const expiresAt = new Date(issuedAtSeconds * 1000 + sessionLifetimeMs)
  const ip = caller.ip ?? ''
  const userAgent = (caller.userAgent ?? '').slice(0, maxUserAgentLength)
  const session = await within(user.organization).sessions.insertOne(
    { user: user._id, device: deviceOf(userAgent), ip, userAgent, expiresAt },
    { session: tx },
  )
  const data = { userId: String(user._id), ip, userAgent, at: session.createdAt }
  const person: Caller = { ...caller, kind: 'session', userId: String(user._id), userName: user.name }
  await tell(context, person, 'session.created', { organization: user.organization, subject: session._id, data }, tx)
  const token = sessionJwt.sign({
    sub: String(user._id),
    org: String(user.organization),
    sid: String(session._id),
    role: user.role,
    iat: issuedAtSeconds,
    exp: expiresAt.getTime() / 1000,
  })
  return { token, expiresAt }
}
