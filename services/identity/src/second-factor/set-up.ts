import { AppError } from '@rollcall/contract'
import type { ConfirmTotpRequest, RemoveTotpRequest } from '@rollcall/protos/gen/identity-v1.ts'
import type { Updated } from '@rollcall/protos/gen/types.ts'
import type { Call, Caller } from '@rollcall/rpc'
import type { ClientSession } from 'mongoose'
import { requireOwnPassword } from '../account/own-password.ts'
import { endOtherSessions } from '../account/own-sessions.ts'
import type { Context } from '../context.ts'
import { publish } from '../events.ts'
import { settingsOf } from '../organizations/organization.model.ts'
import type { User } from '../users/user.model.ts'
import { secondFactorOf, totpPlace, totpSecretOf, tryCode } from './second-factor.ts'
import { newRecoveryCodes, newTotp, recoveryHash, stepOf, type TotpSetup } from './totp.ts'

/** How long a new secret waits for its first code. */
const SETUP_MS = 15 * 60_000

/**
 * Stores a new secret for the caller's second factor, in place of one that was not confirmed.
 * @throws {AppError} second_factor.on
 */
export async function startTotp(context: Context, caller: Caller): Promise<TotpSetup> {
  const { organizationId } = caller
  const { users } = context.collections.of(organizationId)
  const user = await users.get(caller.userId!, 'user')
  if (secondFactorOf(user)) throw new AppError('second_factor.on')
  const organization = await context.collections.unscoped.organizations.findById(organizationId).lean()
  const setup = newTotp({ issuer: organization!.name, label: user.email })
  const totp = {
    secret: context.encryption.seal(setup.secret, totpPlace(user)),
    startedAt: new Date(),
    confirmedAt: null,
    usedStep: 0,
    recoveryCodes: [],
  }
  const notOn = { _id: user._id, 'totp.confirmedAt': null }
  await context.store.transaction(async tx => {
    const stored = await users.updateOne(notOn, { $set: { totp } }, { timestamps: false, tx })
    if (stored.matchedCount === 0) throw new AppError('second_factor.on')
    await record(context, 'user.second_factor_started', user, caller, tx)
  })
  return setup
}

/**
 * Turns the caller's second factor on with a code of the new secret, and ends the other sessions of the account, which
 * began without it. Returns the recovery codes.
 * @throws {AppError} request.invalid_field, second_factor.on, second_factor.not_started
 */
export async function confirmTotp(context: Context, { code }: ConfirmTotpRequest, caller: Caller): Promise<string[]> {
  const { organizationId } = caller
  const { users } = context.collections.of(organizationId)
  const user = await users.get(caller.userId!, 'user')
  const { totp } = user
  if (totp?.confirmedAt) throw new AppError('second_factor.on')
  if (!totp || totp.startedAt.getTime() < Date.now() - SETUP_MS) throw new AppError('second_factor.not_started')
  const secret = totpSecretOf(context, user, totp)
  const usedStep = stepOf(secret, code)
  if (usedStep === undefined) throw wrongCode()
  const codes = newRecoveryCodes()
  const recoveryCodes = codes.map(each => recoveryHash(secret, each))
  const asStarted = { _id: user._id, 'totp.confirmedAt': null, 'totp.startedAt': totp.startedAt }
  const set = { 'totp.confirmedAt': new Date(), 'totp.usedStep': usedStep, 'totp.recoveryCodes': recoveryCodes }
  await changeAtOnce(context, caller, async tx => {
    const turnedOn = await users.updateOne(asStarted, { $set: set }, { tx })
    if (turnedOn.matchedCount === 0) throw new AppError('second_factor.not_started')
    await endOtherSessions(context, caller, tx)
    await record(context, 'user.second_factor_enabled', user, caller, tx)
  })
  return codes
}

/**
 * Turns the caller's second factor off. Wrong passwords and codes count as failed sign-ins.
 * @throws {AppError} second_factor.off, second_factor.required, request.invalid_field
 */
export async function removeTotp(context: Context, request: RemoveTotpRequest, call: Call): Promise<Updated> {
  const { caller } = call
  const { organizationId } = caller
  const { users } = context.collections.of(organizationId)
  const user = await users.get(caller.userId!, 'user')
  if (!secondFactorOf(user)) throw new AppError('second_factor.off')
  await refuseIfRequired(context, organizationId)
  await requireOwnPassword(context, user, { password: request.password, path: 'password' }, call)
  const use = await tryCode(context, user, { code: request.code, isMailed: false }, call)
  if (!use) throw wrongCode()
  await changeAtOnce(context, caller, async tx => {
    await refuseIfRequired(context, organizationId, tx)
    const turnedOff = await users.updateOne({ _id: user._id, ...use.unused }, { $set: { totp: null } }, { tx })
    if (turnedOff.matchedCount === 0) throw wrongCode() // used concurrently
    await record(context, 'user.second_factor_disabled', user, caller, tx)
  })
  return { success: true, message: 'second factor turned off' }
}

async function refuseIfRequired({ collections }: Context, organizationId: string, tx?: ClientSession): Promise<void> {
  if ((await settingsOf(collections, organizationId, { tx })).requireMfa) throw new AppError('second_factor.required')
}

/** Cached credentials say whether a second factor is missing. */
function changeAtOnce(context: Context, { organizationId }: Caller, write: (tx: ClientSession) => Promise<void>) {
  return context.credentials.change({ organizationId }, timeoutMs => context.store.transaction(write, { timeoutMs }))
}

function record(
  context: Context,
  type: 'user.second_factor_started' | 'user.second_factor_enabled' | 'user.second_factor_disabled',
  { _id: subject, organization }: User,
  caller: Caller,
  tx: ClientSession,
): Promise<void> {
  return publish(context, caller, type, { organization, subject, data: { userId: String(subject) } }, tx)
}

function wrongCode(): AppError {
  return new AppError('request.invalid_field', { path: 'code' })
}
