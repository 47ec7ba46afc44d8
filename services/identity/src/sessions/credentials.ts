import { credentialMessages } from '@rollcall/credentials'
import type { ResolvedCredential } from '@rollcall/protos/gen/identity-v1.ts'
import { AppError, type Caller, type Handlers } from '@rollcall/rpc'
import type { Scope } from '@rollcall/store'
import type { Context } from '../context.ts'
import { type Authority, authorityOf, tokenAuthorityOf } from '../roles/authority.ts'
import type { Token } from '../tokens/token.model.ts'
import type { User } from '../users/user.model.ts'
import type { Session } from './session.model.ts'

const notedEveryMs = 60_000

/**
 * Turns credentials into callers, as things stand at this moment; whoever asks may remember the answer under the
 * protocol of the credential cache. A credential that is good for nothing is a 401, one of a blocked account a 403.
 */
export const credentials = ({ within }: Context): Handlers<'rollcall.identity.v1.Credentials'> => ({
  async resolveToken({ organizationId, hash }, { caller }) {
    requireService(caller)
    const { tokens, users, roles } = within(organizationId)
    const token = await tokens.findOne({ hash })
    if (!token || !isUsable(token)) throw unauthenticated(credentialMessages.unknownToken)
    const creator = await users.findOne({ _id: token.creator })
    if (!creator) throw unauthenticated(credentialMessages.creatorMissing)
    if (creator.blocked) throw blockedAccount()
    const authority = await tokenAuthorityOf(roles, token, creator)
    if (!authority) throw unauthenticated('Token role not found.')
    return {
      kind: 'token',
      ...resolved(creator, authority),
      tokenId: String(token._id),
      tokenName: token.name,
      allowedIps: token.allowedIps ?? [],
      readOnly: false,
      ...(token.expiresAt && { expiresAt: token.expiresAt.toISOString() }),
    }
  },

  async resolveSession({ organizationId, sessionId, userId }, { caller, logger }) {
    requireService(caller)
    const { sessions, users, roles } = within(organizationId)
    const [session, user] = await Promise.all([
      sessions.findOne({ _id: sessionId, user: userId }),
      users.findOne({ _id: userId }),
    ])
    // Blocking ends the sessions of an account; while it lasts, they say so.
    if (user?.blocked) throw blockedAccount()
    if (!user || !session || session.expiresAt.getTime() <= Date.now())
      throw unauthenticated(credentialMessages.badSession)
    const authority = await authorityOf(roles, user)
    if (!authority) throw unauthenticated(credentialMessages.badSession)
    noteActivity(sessions, session).catch(err => logger.warn({ err }, 'the activity of a session was not noted'))
    return {
      kind: 'session',
      ...resolved(user, authority),
      sessionId,
      readOnly: session.impersonatedBy !== null,
      ...(session.impersonatedBy && { impersonatorId: String(session.impersonatedBy) }),
      expiresAt: session.expiresAt.toISOString(),
    }
  },
})

/** Nobody waits for it: whoever asks remembers the answer, so that it says little more than the minute anyway. */
async function noteActivity(sessions: Scope<Session>, { _id, lastActiveAt }: Session): Promise<void> {
  const now = Date.now()
  if (now - lastActiveAt.getTime() < notedEveryMs) return
  await sessions.updateOne({ _id }, { $set: { lastActiveAt: new Date(now) } })
}

/** The refusal of whoever acts for a blocked account. */
export function blockedAccount(): AppError {
  return new AppError('forbidden', { message: 'Account is blocked.' })
}

function unauthenticated(message: string): AppError {
  return new AppError('unauthenticated', { message })
}

function requireService(caller: Caller): void {
  if (caller.kind !== 'service') throw new AppError('forbidden', { message: 'Only services resolve credentials.' })
}

function isUsable({ active, archived, expiresAt }: Token): boolean {
  return active && !archived && (expiresAt === null || expiresAt.getTime() > Date.now())
}

function resolved(
  person: User,
  { role, permissions }: Authority,
): Pick<ResolvedCredential, 'organizationId' | 'userId' | 'userName' | 'role' | 'permissions' | 'allowedIps'> {
  return {
    organizationId: String(person.organization),
    userId: String(person._id),
    userName: person.name,
    role,
    permissions: permissions === '*' ? ['*'] : [...permissions],
    allowedIps: [],
  }
}
