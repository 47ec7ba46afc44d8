import { AppError, allows, emailKeyOf, type HttpBody, json } from '@rollcall/contract'
import { generateSecret } from '@rollcall/credentials'
import type { CreateInvitationRequest, InvitationRequest } from '@rollcall/protos/gen/identity-v1.ts'
import { actorOf, type Caller, type Handlers } from '@rollcall/rpc'
import { quoted } from '@rollcall/runtime'
import { objectId, runList } from '@rollcall/store'
import type { ClientSession } from 'mongoose'
import type { Context } from '../context.ts'
import type { Mail } from '../mailer.ts'
import { requireMailReach } from '../organizations/mail-reach.ts'
import { keepQuota } from '../organizations/quotas.ts'
import { builtInRole } from '../roles/built-in.ts'
import { refuseExcess } from '../roles/permissions.ts'
import { holdCredential } from '../sessions/credential.ts'
import type { User } from '../users/user.model.ts'
import { acceptInvitation, declineInvitation, previewInvitation, ROLE_OF_NEWCOMERS } from './accept-invitation.ts'
import { findAccess, requireAccess, roleToGive } from './access.ts'
import { type Invitation, invitationFields, presentInvitation, showStatus } from './invitation.model.ts'
import { publishOutcome, withdraw } from './invitation-outcome.ts'
import { accountOf } from './membership.ts'
import { lockMembers, queueOf, refuseOverbooking } from './seats.ts'
import type { Workspace } from './workspace.model.ts'

const LIFETIME_DAYS = 7

/** Handlers for invitations to workspaces. */
export const invitations = (context: Context): Handlers<'rollcall.identity.v1.Invitations'> => ({
  async listInvitations({ id, list }, { caller }) {
    const tenant = context.collections.of(caller.organizationId)
    const { workspace } = await requireAccess(tenant, id, caller, 'read')
    return runList({
      scope: tenant.invitations,
      base: { workspace: workspace._id },
      stages: [showStatus()],
      query: list ?? {},
      fields: invitationFields,
    })
  },

  createInvitation: (request, { caller }) => createInvitation(context, request, caller),

  revokeInvitation: (request, { caller }) =>
    context.store.transaction(tx => revokeWithin(context, request, caller, tx), queueOf(request.id)),

  previewInvitation: ({ token }) => previewInvitation(context, token),

  acceptInvitation: (request, call) => acceptInvitation(context, request, call),

  declineInvitation: (request, { caller }) => declineInvitation(context, request, caller),
})

/**
 * Invites a person to a workspace. Response and mail contain different links; only the mailed one proves the mailbox.
 */
async function createInvitation(context: Context, request: CreateInvitationRequest, caller: Caller): Promise<HttpBody> {
  const [secret, mailedSecret] = [generateSecret(), generateSecret()]
  const hashes = {
    hash: context.secrets.invitation.hash(secret),
    mailedHash: context.secrets['mailed-invitation'].hash(mailedSecret),
  }
  const { invitation, workspace, user } = await context.store.transaction(
    tx => createWithin(context, { ...request, ...hashes }, caller, tx),
    queueOf(request.id),
  )
  const linkOf = (secret: string) => `${context.consoleUrl}/invitations/${secret}`
  try {
    const mail = mailOf(invitation, workspace, caller, linkOf(mailedSecret))
    await context.mailer.send({ ...mail, ...(user && { userId: String(user._id) }) })
  } catch (error) {
    // Without the mail, nobody can answer: the invitation must not occupy a seat or block another one.
    const named = { _id: invitation._id, status: 'pending' }
    await context.store.transaction(tx => withdraw(context, named, caller, tx), queueOf(request.id))
    throw error
  }
  return json({ ...presentInvitation(invitation), acceptUrl: linkOf(secret) })
}

async function createWithin(
  context: Context,
  { id, email, role: name, ...hashes }: CreateInvitationRequest & Pick<Invitation, 'hash' | 'mailedHash'>,
  caller: Caller,
  tx: ClientSession,
): Promise<{ invitation: Invitation; workspace: Workspace; user: User | null }> {
  const tenant = context.collections.of(caller.organizationId)
  await holdCredential(tenant, caller, tx)
  const access = await requireAccess(tenant, id, caller, 'create', tx)
  const { workspace } = access
  const user = await accountOf(tenant, email, tx)
  if (!user) refuseNewAccount(caller)
  await requireMailReach(context, caller.organizationId, email)
  const role = await roleToGive(tenant.roles, name, access, tx)
  if (user && (await tenant.members.findOne({ workspace: workspace._id, user: user._id }, { tx })))
    throw new AppError('record.duplicate', { path: 'email' })
  const emailKey = emailKeyOf(email)
  // An expired invitation is replaced; the unique index rejects a second pending one.
  const outdated = { workspace: workspace._id, emailKey, status: 'pending', expiresAt: { $lte: new Date() } }
  await tenant.invitations.deleteMany(outdated, { tx })
  await keepQuota(context, workspace.organization, 'invitations', tx)
  const invitation = await tenant.invitations.insertOne(
    {
      workspace: workspace._id,
      email,
      emailKey,
      role: role.name,
      roleId: role._id,
      ...hashes,
      mayCreateAccount: !user,
      expiresAt: new Date(Date.now() + LIFETIME_DAYS * 24 * 3_600_000),
      sender: objectId(caller.userId),
      createdBy: actorOf(caller),
    },
    { tx },
  )
  await lockMembers(tenant, workspace._id, tx)
  await refuseOverbooking(tenant, workspace._id, tx)
  await publishOutcome(context, 'invitation.created', invitation, caller, tx)
  return { invitation, workspace, user }
}

/** Rejects account creation by a sender who may not create accounts. @throws {AppError} access.permission_denied */
function refuseNewAccount({ permissions }: Caller): void {
  if (!allows(permissions, 'users', 'create'))
    throw new AppError('access.permission_denied', { permission: 'users.create' })
  refuseExcess(builtInRole(ROLE_OF_NEWCOMERS)!.permissions, permissions)
}

async function revokeWithin(
  context: Context,
  { id, invitationId }: InvitationRequest,
  caller: Caller,
  tx: ClientSession,
): Promise<HttpBody> {
  const tenant = context.collections.of(caller.organizationId)
  const { workspace } = await findAccess(tenant, id, caller, tx)
  const named = { workspace: workspace._id, _id: objectId(invitationId, 'invitationId') }
  const invitation = await tenant.invitations.findOne(named, { tx })
  if (!invitation) throw new AppError('invitation.not_found')
  if (String(invitation.sender) !== caller.userId) throw new AppError('invitation.sender_required')
  if (invitation.status !== 'pending') throw new AppError('invitation.answered', { status: invitation.status })
  await withdraw(context, named, caller, tx)
  return json(presentInvitation(invitation))
}

function mailOf(
  { organization, email, role, expiresAt }: Invitation,
  { name }: Workspace,
  { userName }: Caller,
  link: string,
): Mail {
  const paragraphs = [
    'Hello,',
    `${quoted(userName)} invites you to the workspace ${quoted(name)}, with the role ${quoted(role)}. Accept or decline here:`,
    link,
    `The link works once, within ${LIFETIME_DAYS} days.`,
  ]
  const about = { purpose: 'invitation' as const, subject: `Invitation to ${quoted(name)}`, expiresAt }
  return { organizationId: String(organization), to: email, ...about, text: paragraphs.join('\n\n') }
}
