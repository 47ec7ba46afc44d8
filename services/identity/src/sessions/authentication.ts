import { AppError, type Call, type Handlers, json } from '@rollcall/rpc'
import { objectId } from '@rollcall/store'
import type { ClientSession } from 'mongoose'
import { registerClient } from '../clients/register-client.ts'
import type { Context } from '../context.ts'
import { createOrganization } from '../organizations/create-organization.ts'
import { presentOrganization } from '../organizations/organization.model.ts'
import { mailResets, resetPassword } from '../users/password-reset.ts'
import { emailKeyOf, presentUser, type User } from '../users/user.model.ts'
import { blockedAccount } from './bearer.ts'
import { endSession } from './end-sessions.ts'
import { exchangeToken } from './exchange-token.ts'
import { impersonate } from './impersonate.ts'
import { signIn } from './sign-in.ts'
import { mailCode, renewCode, verifyCode } from './sign-in-code.ts'

/** How many organizations' accounts of one email a sign-in tries its password on. */
const maxAccounts = 10

/** Signing in and out, and who the caller is. */
export const authentication = (context: Context): Handlers<'rollcall.identity.v1.Authentication'> => ({
  async register({ organization = '', ...request }, call) {
    if (context.registration === 'closed') throw new AppError('forbidden', { message: 'Registration is closed.' })
    const { name, email, password } = request
    const passwordHash = await context.passwords.hash(password)
    const founding = { organization: organization || name, name, email, passwordHash, lastLoginAt: new Date() }
    const registered = await context.store.transaction(async tx => {
      const { organization, owner } = await createOrganization(context, founding, tx)
      const credential = await signIn(context, owner, call, tx)
      return { ...credential, user: presentUser(owner), organization: presentOrganization(organization) }
    })
    await context.credentials.prepare(String(registered.organization.id))
    return json(registered)
  },

  async login({ email, password, orgId }, call) {
    const [account, another] = await accountsThatFit(context, { email, password, orgId })
    if (!account) throw wrongPassword()
    if (another) throw new AppError('missing_field', { path: 'orgId' })
    if (account.blocked) throw blockedAccount()
    return json(await openSession(context, account, call))
  },

  async logout(_request, { caller }) {
    const { organizationId, sessionId } = caller
    if (!sessionId) throw new AppError('bad_request', { message: 'An API token has no session to end.' })
    const scope = { organizationId, credentials: [{ kind: 'session' as const, id: sessionId }] }
    await context.credentials.change(scope, timeoutMs => {
      const end = (tx: ClientSession) => endSession(context, objectId(sessionId), caller, tx)
      return context.store.transaction(end, { timeoutMs })
    })
    return { success: true, message: 'signed out' }
  },

  async forgotPassword(request, { logger }) {
    // Nobody waits for it, so that the answer tells nothing of whether there is such an account.
    mailResets(context, request).catch(err => logger.error({ err }, 'no mail to reset a password'))
    return { success: true, message: 'sent, if there is such an account' }
  },

  async resetPassword(request, { caller }) {
    await resetPassword(context, request, caller)
    return { success: true, message: 'updated' }
  },

  async requestOtp(request, { logger }) {
    const leave = await renewCode(context, request)
    // Nobody waits for the mail, so that the answer tells nothing of whether there is such an account.
    if (leave) mailCode(context, leave).catch(err => logger.error({ err }, 'no mail with a code to sign in'))
    return { success: true, message: 'sent, if there is such an account' }
  },

  verifyOtp: (request, call) => verifyCode(context, request, call),

  impersonate: (request, call) => impersonate(context, request, call),

  exchangeToken: (request, call) => exchangeToken(context, request, call),

  registerClient: request => registerClient(context, request),

  async getMe(_request, { caller }) {
    const { organizationId, userId, role, permissions, tokenId, tokenName, impersonatorId } = caller
    const [organization, user] = await Promise.all([
      context.models.organizations.findById(organizationId).lean(),
      context.within(organizationId).users.findOne({ _id: userId }),
    ])
    if (!organization || !user) throw new AppError('unauthenticated', { message: 'No such account.' })
    return json({
      kind: caller.kind,
      user: presentUser(user),
      organization: presentOrganization(organization),
      role,
      permissions: permissions === '*' ? ['*'] : permissions,
      ...(tokenId && { token: { id: tokenId, name: tokenName } }),
      ...(impersonatorId && { impersonatedBy: impersonatorId }),
    })
  },
})

function openSession(context: Context, account: User, call: Call): Promise<object> {
  const { users } = context.within(account.organization)
  return context.store.transaction(async tx => {
    const asLookedUp = { _id: account._id, blocked: false, passwordHash: account.passwordHash }
    const user = await users.findOneAndUpdate(asLookedUp, { $set: { lastLoginAt: new Date() } }, { session: tx })
    // Blocked, deleted or given another password meanwhile.
    if (!user) throw wrongPassword()
    return { ...(await signIn(context, user, call, tx)), user: presentUser(user) }
  })
}

function wrongPassword(): AppError {
  return new AppError('unauthenticated', { message: 'Wrong email or password.' })
}

/** The accounts that email and password open. An email nobody has costs as much as a wrong password. */
async function accountsThatFit(
  { models, passwords }: Context,
  { email, password, orgId }: { email: string; password: string; orgId: string | undefined },
): Promise<User[]> {
  const accounts = await models.users
    .find({ emailKey: emailKeyOf(email), ...(orgId && { organization: orgId }) })
    .sort({ _id: 1 }) // whoever registers the email elsewhere does not displace the accounts that were there
    .limit(maxAccounts)
    .lean()
  if (accounts.length === 0) await passwords.fits(password, undefined)
  const fits = await Promise.all(accounts.map(account => passwords.fits(password, account.passwordHash ?? undefined)))
  return accounts.filter((_, index) => fits[index])
}
