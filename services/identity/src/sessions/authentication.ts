import { AppError, emailKeyOf, type HttpBody, json, updated } from '@rollcall/contract'
import type { ListSignInOrganizationsRequest, LoginRequest } from '@rollcall/protos/gen/identity-v1.ts'
import type { Call, Handlers } from '@rollcall/rpc'
import { objectId } from '@rollcall/store'
import type { ClientSession } from 'mongoose'
import { verifyEmail } from '../account/change-email.ts'
import { describeCaller } from '../account/describe-caller.ts'
import { registerClient } from '../clients/register-client.ts'
import type { Context } from '../context.ts'
import { createOrganization } from '../organizations/create-organization.ts'
import { presentOrganization } from '../organizations/organization.model.ts'
import { completeSignIn, openPendingSignIn } from '../second-factor/pending-sign-in.ts'
import { hasSecondFactor } from '../second-factor/second-factor.ts'
import { accountsOf, foremost } from '../users/accounts-of.ts'
import { mailResets, resetPassword } from '../users/password-reset.ts'
import { MIN_PASSWORD_LENGTH, setterOf } from '../users/passwords.ts'
import { presentUser, type User } from '../users/user.model.ts'
import { blockedAccount } from './credential.ts'
import { endSession } from './end-sessions.ts'
import { exchangeToken } from './exchange-token.ts'
import { impersonate } from './impersonate.ts'
import { reportFailure } from './report-failure.ts'
import { signIn } from './sign-in.ts'
import { mailCode, requestCode, verifyCode } from './sign-in-code.ts'
import { limitKeysOf } from './sign-in-throttle.ts'

/** Handlers for registration, sign-in, sign-out and the caller's own account. */
export const authentication = (context: Context): Handlers<'rollcall.identity.v1.Authentication'> => ({
  async register({ organization = '', ...request }, call) {
    if (context.registration === 'closed') throw new AppError('registration.closed')
    const { name, email, password } = request
    const passwordHash = await context.passwords.hash(password, setterOf(call.caller))
    const founding = { organization: organization || name, name, email, passwordHash, lastLoginAt: new Date() }
    const registered = await context.store.transaction(async tx => {
      const { organization, owner } = await createOrganization(context, founding, tx)
      const credential = await signIn(context, owner, call, tx)
      return { ...credential, user: presentUser(owner), organization: presentOrganization(organization) }
    })
    await context.credentials.prepare(String(registered.organization.id))
    return json(registered)
  },

  async login(request, call) {
    // Retried once if the password hash changed concurrently.
    const answer = (await openSession(context, request, call)) ?? (await openSession(context, request, call))
    if (!answer) throw wrongPassword()
    return json(answer)
  },

  getSignInOptions: async () =>
    json({ registration: context.registration, passwordMinLength: MIN_PASSWORD_LENGTH, oidc: [] }),

  listSignInOrganizations: (request, call) => listOrganizations(context, request, call),

  async logout(_request, { caller }) {
    const { organizationId, sessionId } = caller
    if (!sessionId) throw new AppError('token.no_session')
    const scope = { organizationId, credentials: [{ kind: 'session' as const, id: sessionId }] }
    await context.credentials.change(scope, timeoutMs => {
      const end = (tx: ClientSession) => endSession(context, objectId(sessionId), caller, tx)
      return context.store.transaction(end, { timeoutMs })
    })
    return { success: true, message: 'signed out' }
  },

  async forgotPassword(request, { caller, logger }) {
    // Runs in the background, so that response time does not reveal whether the account exists.
    mailResets(context, request, caller).catch(err => logger.error({ err }, 'password reset mail failed'))
    return { success: true, message: 'sent, if there is such an account' }
  },

  async resetPassword(request, call) {
    await resetPassword(context, request, call)
    return updated()
  },

  async verifyEmail(request, call) {
    await verifyEmail(context, request, call)
    return { success: true, message: 'email address changed' }
  },

  async requestOtp(request, { caller, logger }) {
    const { requestId, issued } = await requestCode(context, request)
    // Runs in the background, so that response time does not reveal whether the account exists.
    if (issued) mailCode(context, issued, caller).catch(err => logger.error({ err }, 'sign-in code mail failed'))
    return { success: true, message: 'sent, if there is such an account', requestId }
  },

  verifyOtp: (request, call) => verifyCode(context, request, call),

  verifyMfa: (request, call) => completeSignIn(context, request, call),

  impersonate: (request, call) => impersonate(context, request, call),

  exchangeToken: (request, call) => exchangeToken(context, request, call),

  registerClient: request => registerClient(context, request),

  getMe: async (_request, { caller }) => json((await describeCaller(context, caller)).me),
})

/**
 * Signs in by email and password, or asks for the second factor. Returns undefined if the account changed concurrently.
 */
async function openSession(context: Context, request: LoginRequest, call: Call): Promise<object | undefined> {
  const account = await accountThatFits(context, request, call)
  const { passwordHash } = account
  const isOutdated = passwordHash !== null && context.passwords.isOutdated(passwordHash)
  if (hasSecondFactor(account)) {
    // Awaited: a later change of the hash would end the pending sign-in.
    const user = isOutdated ? await rehash(context, account, request.password, call) : account
    return user ? openPendingSignIn(context, user, 'password') : undefined
  }
  const { users } = context.collections.of(account.organization)
  const session = await context.store.transaction(async tx => {
    const asLookedUp = { _id: account._id, blocked: false, passwordHash, 'totp.confirmedAt': null }
    const user = await users.findOneAndUpdate(asLookedUp, { $set: { lastLoginAt: new Date() } }, { tx })
    return user ? { ...(await signIn(context, user, call, tx)), user: presentUser(user) } : undefined
  })
  if (session && isOutdated) void rehash(context, account, request.password, call)
  return session
}

/**
 * Rehashes a password with the current parameters. Returns the account, or null if its password changed concurrently.
 * A failure is only logged, since the password is right: `hash` refuses common passwords, and new ones under load.
 */
async function rehash(
  context: Context,
  account: User,
  password: string,
  { caller, logger }: Call,
): Promise<User | null> {
  const { _id, organization, passwordHash: outdated } = account
  const { users } = context.collections.of(organization)
  try {
    const passwordHash = await context.passwords.hash(password, setterOf(caller, String(organization)))
    const asFound = { _id, passwordHash: outdated }
    return await users.findOneAndUpdate(asFound, { $set: { passwordHash } }, { timestamps: false })
  } catch (err) {
    logger.warn({ err }, 'password rehash failed')
    return account
  }
}

function wrongPassword(): AppError {
  return new AppError('sign_in.wrong_password')
}

/**
 * Returns the account that matches email and password. An unknown email takes as long as a wrong password.
 * @throws {AppError} sign_in.wrong_password, also if sign-in is throttled; request.missing_field if several accounts
 * match; account.blocked
 */
async function accountThatFits(context: Context, request: LoginRequest, call: Call): Promise<User> {
  const [account, another] = foremost(await accountsThatFit(context, request, call))
  if (!account) throw wrongPassword()
  if (another) throw new AppError('request.missing_field', { path: 'orgId' })
  if (!account.blocked) return account
  reportFailure(context, 'blocked', [account], call)
  throw blockedAccount()
}

/** Returns the organizations of the accounts that match. @throws {AppError} sign_in.wrong_password if there are none */
async function listOrganizations(
  context: Context,
  request: ListSignInOrganizationsRequest,
  call: Call,
): Promise<HttpBody> {
  const accounts = await accountsThatFit(context, request, call)
  if (accounts.length === 0) throw wrongPassword()
  const _id = { $in: accounts.map(({ organization }) => organization) }
  const found = await context.collections.unscoped.organizations.find({ _id }, { name: 1 }).lean()
  return json(found.sort((one, other) => one.name.localeCompare(other.name)))
}

/** Returns the accounts that match email and password, of at most four. Reports the others as failed sign-ins. */
async function accountsThatFit(
  context: Context,
  { email, password, orgId }: LoginRequest,
  call: Call,
): Promise<User[]> {
  const { passwords, signInThrottle } = context
  const emailKey = emailKeyOf(email)
  const accounts = await accountsOf(context, emailKey, orgId)
  const keys = limitKeysOf(context, emailKey, accounts)
  const outcomes = await Promise.all(
    keys.map((key, index) => {
      const account = accounts[index]
      const fits = () => passwords.fits(password, account?.passwordHash ?? undefined)
      return signInThrottle.look(key, fits, { isPartial: account !== undefined && hasSecondFactor(account) })
    }),
  )
  const withOutcome = (wanted: string) => accounts.filter((_, index) => outcomes[index] === wanted)
  if (outcomes.includes('throttled')) reportFailure(context, 'throttled', withOutcome('throttled'), call)
  if (outcomes.includes('wrong')) reportFailure(context, 'password', withOutcome('wrong'), call)
  return withOutcome('right')
}
