import { AppError, type HttpBody, json } from '@rollcall/contract'
import type { RevokeUserDeviceRequest, RevokeUserSessionRequest } from '@rollcall/protos/gen/identity-v1.ts'
import type { ListOfRequest } from '@rollcall/protos/gen/types.ts'
import type { Caller } from '@rollcall/rpc'
import { objectId, runList } from '@rollcall/store'
import type { ClientSession, Types } from 'mongoose'
import type { Context } from '../context.ts'
import { publish } from '../events.ts'
import { deviceFields, presentDevice, showDevice } from '../sessions/device.model.ts'
import { endSession, endSessions } from '../sessions/end-sessions.ts'
import { presentSession, type Session, sessionFields, showSession } from '../sessions/session.model.ts'
import { refuseHigherRank } from './protections.ts'

/** Lists the active sessions of a user, latest sign-in first. */
export async function listUserSessions({ collections }: Context, { id, list }: ListOfRequest, caller: Caller) {
  const { users, sessions } = collections.of(caller.organizationId)
  const { _id: user } = await users.get(id, 'user')
  return runList({
    scope: sessions,
    base: { user, expiresAt: { $gt: new Date() } },
    stages: [showSession(sessionOf(caller))],
    query: list ?? {},
    fields: sessionFields,
    defaultSort: { createdAt: -1 },
  })
}

/** Lists the devices of a user, latest sign-in first. */
export async function listUserDevices({ collections }: Context, { id, list }: ListOfRequest, caller: Caller) {
  const { users, devices, sessions } = collections.of(caller.organizationId)
  const { _id: user } = await users.get(id, 'user')
  const session = await sessions.findOne({ _id: sessionOf(caller) })
  return runList({
    scope: devices,
    base: { user },
    stages: [showDevice(session?.deviceId ?? null)],
    query: list ?? {},
    fields: deviceFields,
    defaultSort: { lastSeenAt: -1 },
  })
}

/** Ends a session of a user; the next request with it is refused. */
export async function revokeUserSession(
  context: Context,
  { id, sessionRef }: RevokeUserSessionRequest,
  caller: Caller,
): Promise<HttpBody> {
  const { organizationId } = caller
  const { users, sessions } = context.collections.of(organizationId)
  const owner = await users.get(id, 'user')
  refuseHigherRank(owner, caller)
  const user = owner._id
  const named = { user, ref: objectId(sessionRef, 'sessionRef'), expiresAt: { $gt: new Date() } }
  const session: Session | null = await sessions.findOne(named)
  const [record] = await sessions.aggregate([{ $match: named }, showSession(sessionOf(caller))])
  if (!session || !record) throw new AppError('session.not_found')
  const scope = { organizationId, credentials: [{ kind: 'session' as const, id: String(session._id) }] }
  const end = async (tx: ClientSession) => {
    if (!(await endSession(context, session._id, caller, tx))) throw new AppError('session.not_found')
  }
  await context.credentials.change(scope, timeoutMs => context.store.transaction(end, { timeoutMs }))
  return json(presentSession(record))
}

/** Deletes a device of a user and ends its sessions. */
export async function revokeUserDevice(
  context: Context,
  { id, deviceId }: RevokeUserDeviceRequest,
  caller: Caller,
): Promise<HttpBody> {
  const { organizationId } = caller
  const { users, devices, sessions } = context.collections.of(organizationId)
  const owner = await users.get(id, 'user')
  refuseHigherRank(owner, caller)
  const { _id: user, organization } = owner
  const named = { user, _id: objectId(deviceId, 'deviceId') }
  const own = await sessions.findOne({ _id: sessionOf(caller) })
  const [record] = await devices.aggregate([{ $match: named }, showDevice(own?.deviceId ?? null)])
  if (!record) throw new AppError('device.not_found')
  const revoke = async (tx: ClientSession) => {
    const device = await devices.findOneAndDelete(named, { tx })
    if (!device) throw new AppError('device.not_found')
    await endSessions(context, { user, deviceId: device._id }, caller, tx)
    const data = { userId: id, device: device.name }
    await publish(context, caller, 'user.device_revoked', { organization, subject: user, data }, tx)
  }
  await context.credentials.change({ organizationId }, timeoutMs => context.store.transaction(revoke, { timeoutMs }))
  return json(presentDevice(record))
}

/** Returns the caller's session id; null for a token. */
function sessionOf({ sessionId }: Caller): Types.ObjectId | null {
  return sessionId === undefined ? null : objectId(sessionId)
}
