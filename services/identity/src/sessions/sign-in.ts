import type { Call } from '@rollcall/rpc'
import type { Scope } from '@rollcall/store'
import type { ClientSession } from 'mongoose'
import type { Context } from '../context.ts'
import { asPerson, publish } from '../events.ts'
import { settingsOf } from '../organizations/organization.model.ts'
import type { User } from '../users/user.model.ts'
import { beginSession, type SignIn, seenOf } from './begin-session.ts'
import type { KnownDevice } from './device.model.ts'
import { type Device, deviceOf } from './device.ts'

const HOUR_MS = 3_600_000

/** Signs a user in, within a transaction. */
export async function signIn(context: Context, user: User, { caller }: Call, tx: ClientSession): Promise<SignIn> {
  const { ip, userAgent } = seenOf(caller)
  const device = deviceOf(userAgent)
  const { _id: deviceId } = await recogniseDevice(
    context.collections.of(user.organization).devices,
    user,
    device,
    ip,
    tx,
  )
  const { sessionHours = context.sessionHours } = await settingsOf(context.collections, user.organization, { tx })
  const beginning = { lifetimeMs: sessionHours * HOUR_MS, device, deviceId }
  const { session, ...credential } = await beginSession(context, user, caller, beginning, tx)
  const { organization, _id: subject, createdAt: at } = session
  const data = { userId: String(user._id), ip, userAgent, at }
  await publish(context, asPerson(caller, user), 'session.created', { organization, subject, data }, tx)
  return credential
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
    { upsert: true, tx },
  )
  return device!
}
