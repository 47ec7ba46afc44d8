import { AppError } from '@rollcall/contract'
import type {
  ConfirmTotpRequest,
  RemoveTotpRequest,
  RenewRecoveryCodesRequest,
} from '@rollcall/protos/gen/identity-v1.ts'
import type { Updated } from '@rollcall/protos/gen/types.ts'
import type { Call, Caller } from '@rollcall/rpc'
import type { ClientSession } from 'mongoose'
import { requireOwnPassword } from '../account/own-password.ts'
import { endOtherSessions } from '../account/own-sessions.ts'
import type { Context } from '../context.ts'
import { publish } from '../events.ts'
import { settingsOf } from '../organizations/organization.model.ts'
import type { User } from '../users/user.model.ts'
import { notifySecondFactor } from './notify.ts'
import { type CodeUse, secondFactorOf, totpPlace, totpSecretOf, tryCode } from './second-factor.ts'
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
export async function confirmTotp(context: Context, { code }: ConfirmTotpRequest, call: Call): Promise<string[]> {
  const { caller } = call
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
  notifySecondFactor(context, user, 'on', call)
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
  const user = await ownSecured(context, caller)
  await refuseIfRequired(context, organizationId)
  const use = await prove(context, user, request, call)
  await changeAtOnce(context, caller, async tx => {
    await refuseIfRequired(context, organizationId, tx)
    const turnedOff = await users.updateOne({ _id: user._id, ...use.unused }, { $set: { totp: null } }, { tx })
    if (turnedOff.matchedCount === 0) throw wrongCode() // used concurrently
    await record(context, 'user.second_factor_disabled', user, caller, tx)
  })
  notifySecondFactor(context, user, 'off', call)
  return { success: true, message: 'second factor turned off' }
}

/**
 * Replaces the caller's recovery codes, and returns the new ones. Wrong passwords and codes count as failed sign-ins.
 * @throws {AppError} second_factor.off, request.invalid_field
 */
export async function renewRecoveryCodes(
  context: Context,
  request: RenewRecoveryCodesRequest,
  call: Call,
): Promise<string[]> {
  const { caller } = call
  const user = await ownSecured(context, caller)
  const use = await prove(context, user, request, call)
  const secret = totpSecretOf(context, user, user.totp!)
  const codes = newRecoveryCodes()
  const set = { ...use.set, 'totp.recoveryCodes': codes.map(each => recoveryHash(secret, each)) }
  const { users } = context.collections.of(caller.organizationId)
  await context.store.transaction(async tx => {
    const renewed = await users.updateOne({ _id: user._id, ...use.unused }, { $set: set }, { tx })
    if (renewed.matchedCount === 0) throw wrongCode() // used concurrently
    await record(context, 'user.recovery_codes_renewed', user, caller, tx)
  })
  notifySecondFactor(context, user, 'codes', call)
  return codes
}

/** Returns the caller's account. @throws {AppError} second_factor.off */
async function ownSecured({ collections }: Context, { organizationId, userId }: Caller): Promise<User> {
  const user = await collections.of(organizationId).users.get(userId!, 'user')
  if (!secondFactorOf(user)) throw new AppError('second_factor.off')
  return user
}

/** Checks password and code of the caller. @throws {AppError} request.invalid_field */
async function prove(
  context: Context,
  user: User,
  { password, code }: RemoveTotpRequest,
  call: Call,
): Promise<CodeUse> {
  await requireOwnPassword(context, user, { password, path: 'password' }, call)
  const use = await tryCode(context, user, { code, isMailed: false }, call)
  if (!use) throw wrongCode()
  return use
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
  type: `user.${'second_factor_started' | 'second_factor_enabled' | 'second_factor_disabled' | 'recovery_codes_renewed'}`,
  { _id: subject, organization }: User,
  caller: Caller,
  tx: ClientSession,
): Promise<void> {
  return publish(context, caller, type, { organization, subject, data: { userId: String(subject) } }, tx)
}

function wrongCode(): AppError {
  return new AppError('request.invalid_field', { path: 'code' })
}
