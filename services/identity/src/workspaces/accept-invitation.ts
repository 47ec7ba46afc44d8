import { hashSecret } from '@rollcall/credentials'
import type { AcceptInvitationRequest, InvitationTokenRequest } from '@rollcall/protos/gen/identity-v1.ts'
import type { Updated } from '@rollcall/protos/gen/types.ts'
import { AppError, type Caller, type HttpBody, json, serviceCaller } from '@rollcall/rpc'
import type { ClientSession } from 'mongoose'
import type { Context, Tenant } from '../context.ts'
import { asPerson, tell } from '../events.ts'
import { blockedAccount } from '../sessions/bearer.ts'
import { takeRole } from '../users/member-role.ts'
import { presentUser, type User } from '../users/user.model.ts'
import { type Invitation, isExpired } from './invitation.model.ts'
import { tellOf } from './invitation-outcome.ts'
import { accountOf, join } from './membership.ts'
import { queueOf } from './seats.ts'

type Newcomer = { name: string; passwordHash: string }

/**
 * Accepts an invitation: whoever got the mail becomes a member, by the account of the address or by a new one, for which
 * the request then has to hold name and password. Works once.
 */
export async function acceptInvitation(
  context: Context,
  { token, ...request }: AcceptInvitationRequest,
  caller: Caller,
): Promise<HttpBody> {
  const invitation = await findInvitation(context, token)
  const tenant = context.within(invitation.organization)
  const hasAccount = (await accountOf(tenant, invitation.email)) !== null
  const newcomer = hasAccount ? undefined : await newcomerOf(context, request)
  return context.store.transaction(
    tx => acceptWithin(context, invitation, newcomer, caller, tx),
    queueOf(invitation.workspace),
  )
}

/** Declines an invitation: its seat is free again, its link worth nothing. */
export async function declineInvitation(
  context: Context,
  { token }: InvitationTokenRequest,
  caller: Caller,
): Promise<Updated> {
  const found = await findInvitation(context, token)
  await context.store.transaction(async tx => {
    const invitation = await answer(context.within(found.organization), found, 'declined', tx)
    await tellOf(context, 'invitation.declined', invitation, { ...caller, userName: invitation.email }, tx)
  }, queueOf(found.workspace))
  return { success: true, message: 'declined' }
}

async function acceptWithin(
  context: Context,
  found: Invitation,
  newcomer: Newcomer | undefined,
  caller: Caller,
  tx: ClientSession,
): Promise<HttpBody> {
  const tenant = context.within(found.organization)
  const invitation = await answer(tenant, found, 'accepted', tx)
  const workspace = await tenant.workspaces.findOne({ _id: invitation.workspace }, { session: tx })
  if (!workspace) throw notFound()
  const role = await tenant.roles.findOne({ _id: invitation.roleId }, { session: tx })
  if (!role) throw new AppError('conflict', { message: `the role ${invitation.role} was deleted` })
  const account = await accountOf(tenant, invitation.email, tx)
  if (account?.blocked) throw blockedAccount()
  const user = account ?? (await createAccount(context, invitation, newcomer, caller, tx))
  const doer = asPerson(caller, user)
  await join(context, { workspace, user, role, doer }, tx)
  await tellOf(context, 'invitation.accepted', invitation, doer, tx, { userId: String(user._id) })
  const { _id, name, image } = workspace
  return json({ workspace: { _id, name, image }, role: role.name, user: presentUser(user) })
}

/** Makes the account of an invited person, who by the link has shown that the address is theirs. */
async function createAccount(
  context: Context,
  { organization, email, emailKey }: Invitation,
  newcomer: Newcomer | undefined,
  caller: Caller,
  tx: ClientSession,
): Promise<User> {
  if (!newcomer) throw new AppError('missing_field', { path: 'name' }) // the account was deleted meanwhile
  const { users, roles } = context.within(organization)
  const carried = await takeRole(roles, 'user', serviceCaller('identity', String(organization)), tx)
  const user = await users.insertOne({ ...newcomer, email, emailKey, emailVerified: true, ...carried }, { session: tx })
  const data = { user: presentUser(user) }
  await tell(context, asPerson(caller, user), 'user.created', { organization, subject: user._id, data }, tx)
  return user
}

async function newcomerOf(
  { passwords }: Context,
  { name, password }: Omit<AcceptInvitationRequest, 'token'>,
): Promise<Newcomer> {
  if (name === undefined) throw new AppError('missing_field', { path: 'name' })
  if (password === undefined) throw new AppError('missing_field', { path: 'password' })
  return { name, passwordHash: await passwords.hash(password) }
}

/** The invitation of a link, if it can still be answered. */
async function findInvitation({ models, tokenKey }: Context, token: string): Promise<Invitation> {
  const invitation = await models.invitations.findOne({ hash: hashSecret(token, tokenKey) }).lean()
  return answerable(invitation)
}

/** Marks an invitation as answered: of two answers at once, the later one finds that it was. */
async function answer(
  { invitations }: Tenant,
  { _id }: Invitation,
  status: 'accepted' | 'declined',
  tx: ClientSession,
): Promise<Invitation> {
  answerable(await invitations.findOne({ _id }, { session: tx }))
  const answered = await invitations.rewriteOne({ _id }, { status }, { session: tx })
  return answered ?? answerable(null)
}

function answerable(invitation: Invitation | null): Invitation {
  if (!invitation) throw notFound()
  if (isExpired(invitation)) throw new AppError('bad_request', { message: 'the invitation has expired', path: 'token' })
  if (invitation.status !== 'pending')
    throw new AppError('conflict', { message: `the invitation was ${invitation.status}` })
  return invitation
}

function notFound(): AppError {
  return new AppError('not_found', { what: 'invitation' })
}
