import { AppError, type HttpBody, json } from '@rollcall/contract'
import type { AcceptInvitationRequest, InvitationTokenRequest } from '@rollcall/protos/gen/identity-v1.ts'
import type { Updated } from '@rollcall/protos/gen/types.ts'
import { type Call, type Caller, serviceCaller } from '@rollcall/rpc'
import type { ClientSession } from 'mongoose'
import type { Tenant } from '../collections.ts'
import type { Context } from '../context.ts'
import { asPerson, publish } from '../events.ts'
import { keepQuota } from '../organizations/quotas.ts'
import { badSession, blockedAccount } from '../sessions/credential.ts'
import { dispossessOthers, firstProofOf, recordProof } from '../sessions/prove-mailbox.ts'
import { takeRole } from '../users/member-role.ts'
import { type PasswordSetter, setterOf } from '../users/passwords.ts'
import { presentUser, type User } from '../users/user.model.ts'
import { type Invitation, isExpired } from './invitation.model.ts'
import { publishOutcome } from './invitation-outcome.ts'
import { accountOf, join } from './membership.ts'
import { queueOf, queuesOf } from './seats.ts'

/** Built-in role of accounts created by invitations. */
export const ROLE_OF_NEWCOMERS = 'user'

/** A pending invitation, and whether its link is the mailed one. */
type Found = { invitation: Invitation; isMailed: boolean }
type Newcomer = { name: string; passwordHash: string }

/**
 * Accepts an invitation once: with the account of its address, whose ownership must be proven, or with a new account,
 * for which the request must contain name and password.
 */
export async function acceptInvitation(
  context: Context,
  { token, ...request }: AcceptInvitationRequest,
  call: Call,
): Promise<HttpBody> {
  const { caller } = call
  const found = await findInvitation(context, token)
  const { workspace, organization, email, emailKey } = found.invitation
  const organizationId = String(organization)
  const hasAccount = (await accountOf(context.collections.of(organization), email)) !== null
  const newcomer = hasAccount ? undefined : await newcomerOf(context, request, setterOf(caller, organizationId))
  const { accepted, isProof } = await context.credentials.change({ organizationId }, timeoutMs =>
    context.store.transaction(tx => acceptWithin(context, found, newcomer, caller, tx), {
      timeoutMs,
      ...queuesOf(workspace, organization),
    }),
  )
  if (isProof) await dispossessOthers(context, emailKey, call)
  return accepted
}

/** Declines an invitation: frees its seat and invalidates its link. */
export async function declineInvitation(
  context: Context,
  { token }: InvitationTokenRequest,
  caller: Caller,
): Promise<Updated> {
  const { invitation: found } = await findInvitation(context, token)
  await context.store.transaction(async tx => {
    const invitation = await answer(context.collections.of(found.organization), found, 'declined', tx)
    await publishOutcome(context, 'invitation.declined', invitation, { ...caller, userName: invitation.email }, tx)
  }, queueOf(found.workspace))
  return { success: true, message: 'declined' }
}

/**
 * Returns what a pending invitation offers.
 * @throws {AppError} invitation.not_found, also if it was answered or has expired
 */
export async function previewInvitation(context: Context, token: string): Promise<HttpBody> {
  const { invitation } = await findInvitation(context, token).catch(hideOutcome)
  const { organization, workspace: id, email, role, createdBy, expiresAt } = invitation
  const tenant = context.collections.of(organization)
  const [workspace, account] = await Promise.all([tenant.workspaces.findOne({ _id: id }), accountOf(tenant, email)])
  if (!workspace) throw new AppError('invitation.not_found')
  const { _id, name, image } = workspace
  const invitedBy = { name: createdBy.name }
  return json({ workspace: { _id, name, image }, email, role, invitedBy, expiresAt, hasAccount: account !== null })
}

function hideOutcome(error: unknown): never {
  const isAnswered = error instanceof AppError && ['invitation.expired', 'invitation.answered'].includes(error.code)
  throw isAnswered ? new AppError('invitation.not_found') : error
}

/** Returns the answer, and whether the mailed link proved the mailbox, other than to the person signed in already. */
async function acceptWithin(
  context: Context,
  { invitation: found, isMailed }: Found,
  newcomer: Newcomer | undefined,
  caller: Caller,
  tx: ClientSession,
): Promise<{ accepted: HttpBody; isProof: boolean }> {
  const tenant = context.collections.of(found.organization)
  const invitation = await answer(tenant, found, 'accepted', tx)
  const workspace = await tenant.workspaces.findOne({ _id: invitation.workspace }, { tx })
  if (!workspace) throw new AppError('invitation.not_found')
  const role = await tenant.roles.findOne({ _id: invitation.roleId }, { tx })
  if (!role) throw new AppError('invitation.role_deleted', { role: invitation.role })
  const account = await accountOf(tenant, invitation.email, tx)
  const isSignedIn = account !== null && (await hasOwnSession(tenant, account, caller, tx))
  if (account && !isMailed && !isSignedIn) throw badSession()
  if (account?.blocked) throw blockedAccount()
  const isProof = isMailed && !isSignedIn
  if (account && !account.emailVerified && isProof) await recordFirstProof(context, account, caller, tx)
  const user = account ?? (await createAccount(context, { invitation, isMailed }, newcomer, caller, tx))
  const doer = asPerson(caller, user)
  await join(context, { workspace, user, role, doer }, tx)
  await publishOutcome(context, 'invitation.accepted', invitation, doer, tx, { userId: String(user._id) })
  const { _id, name, image } = workspace
  const accepted = json({
    workspace: { _id, name, image },
    role: role.name,
    user: { _id: user._id, name: user.name },
  })
  return { accepted, isProof }
}

/** Whether the caller has a sign-in session of the account; impersonations and derived sessions do not count. */
async function hasOwnSession({ sessions }: Tenant, user: User, { sessionId }: Caller, tx: ClientSession) {
  const own = { _id: sessionId, user: user._id, origin: null, expiresAt: { $gt: new Date() } }
  return sessionId !== undefined && (await sessions.findOne(own, { tx })) !== null
}

/** Records the first proof of an account's mailbox. Removes the password: somebody else may have created the account. */
async function recordFirstProof(context: Context, account: User, caller: Caller, tx: ClientSession): Promise<void> {
  const { users } = context.collections.of(account.organization)
  await users.updateOne({ _id: account._id }, { $set: firstProofOf(account) }, { tx })
  await recordProof(context, account, caller, tx)
}

/** Creates the account of an invited user. The mailed link proves ownership of the address. */
async function createAccount(
  context: Context,
  { invitation: { organization, email, emailKey, mayCreateAccount }, isMailed }: Found,
  newcomer: Newcomer | undefined,
  caller: Caller,
  tx: ClientSession,
): Promise<User> {
  if (!mayCreateAccount) throw new AppError('invitation.account_deleted')
  if (!newcomer) throw new AppError('request.missing_field', { path: 'name' }) // the account was deleted concurrently
  const { users, roles } = context.collections.of(organization)
  const carried = await takeRole(roles, ROLE_OF_NEWCOMERS, serviceCaller('identity', String(organization)), tx)
  const account = { ...newcomer, email, emailKey, emailVerified: isMailed, ...carried }
  await keepQuota(context, organization, 'accounts', tx)
  const user = await users.insertOne(account, { tx })
  const data = { user: presentUser(user) }
  await publish(context, asPerson(caller, user), 'user.created', { organization, subject: user._id, data }, tx)
  return user
}

async function newcomerOf(
  { passwords }: Context,
  { name, password }: Omit<AcceptInvitationRequest, 'token'>,
  setter: PasswordSetter,
): Promise<Newcomer> {
  if (name === undefined) throw new AppError('request.missing_field', { path: 'name' })
  if (password === undefined) throw new AppError('request.missing_field', { path: 'password' })
  return { name, passwordHash: await passwords.hash(password, setter) }
}

/** Returns the pending invitation of a link. */
async function findInvitation({ collections, secrets }: Context, token: string): Promise<Found> {
  const mailedHashes = secrets['mailed-invitation'].hashes(token)
  const either = [{ hash: { $in: secrets.invitation.hashes(token) } }, { mailedHash: { $in: mailedHashes } }]
  const invitation = answerable(await collections.unscoped.invitations.findOne({ $or: either }).lean())
  return { invitation, isMailed: mailedHashes.some(hash => hash === invitation.mailedHash) }
}

/** Marks an invitation as answered; a concurrent second answer fails. */
async function answer(
  { invitations }: Tenant,
  { _id }: Invitation,
  status: 'accepted' | 'declined',
  tx: ClientSession,
): Promise<Invitation> {
  answerable(await invitations.findOne({ _id }, { tx }))
  const answered = await invitations.rewriteOne({ _id }, { status }, { tx })
  return answered ?? answerable(null)
}

function answerable(invitation: Invitation | null): Invitation {
  if (!invitation) throw new AppError('invitation.not_found')
  if (isExpired(invitation)) throw new AppError('invitation.expired')
  if (invitation.status !== 'pending') throw new AppError('invitation.answered', { status: invitation.status })
  return invitation
}
