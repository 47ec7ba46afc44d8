import type { Call } from '@rollcall/rpc'
import type { Scope } from '@rollcall/store'
import type { ClientSession } from 'mongoose'
import type { Context } from '../context.ts'
import { asPerson, tell } from '../events.ts'
import type { User } from '../users/user.model.ts'
import type { KnownDevice } from './device.model.ts'
import { type Device, deviceOf, maxUserAgentLength } from './device.ts'

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
  const device = deviceOf(userAgent)
  const { sessions, devices } = within(user.organization)
  const { _id: deviceId } = await recogniseDevice(devices, user, device, ip, tx)
  const session = await sessions.insertOne(
    { user: user._id, device, deviceId, ip, userAgent, expiresAt },
    { session: tx },
  )
  const data = { userId: String(user._id), ip, userAgent, at: session.createdAt }
  await tell(
    context,
    asPerson(caller, user),
    'session.created',
    { organization: user.organization, subject: session._id, data },
    tx,
  )
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

async function recogniseDevice(
  devices: Scope<KnownDevice>,
  { _id: user }: User,
  { name, type, browser, os }: Device,
  lastIp: string,
  tx: ClientSession,
): Promise<KnownDevice> {
  const now = new Date()
  const device = await devices.findOneAndUpdate(
    { user, name, type },
    { $set: { browser, os, lastIp, lastSeenAt: now }, $setOnInsert: { firstSeenAt: now } },
    { upsert: true, session: tx },
  )
  return device!
}
