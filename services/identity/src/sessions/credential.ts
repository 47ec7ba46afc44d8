import { AppError } from '@rollcall/contract'
import type { Filter } from '@rollcall/store'
import type { Types } from 'mongoose'
import type { Tenant } from '../collections.ts'
import { type Authority, authorityOf, tokenAuthorityOf } from '../roles/authority.ts'
import type { Token } from '../tokens/token.model.ts'
import type { User } from '../users/user.model.ts'
import type { Origin, Session } from './session.model.ts'

type Holder = { person: User; authority: Authority }
/** Who bears a token: the person it acts for. */
export type TokenCredential = Holder & { token: Token }
/** Who bears a session. */
export type SessionCredential = Holder & { session: Session }
/** Who bears a credential. */
export type Credential = TokenCredential | SessionCredential

/**
 * Who bears a token and what they may do by it, as things stand.
 * @throws {AppError} unauthenticated where it is good for nothing, forbidden where its creator is blocked
 */
export async function tokenCredential({ tokens, users, roles }: Tenant, named: Filter): Promise<TokenCredential> {
  const token = await tokens.findOne(named)
  if (!token || !isUsable(token)) throw new AppError('token.invalid')
  const person = await users.findOne({ _id: token.creator })
  if (!person) throw new AppError('token.creator_missing')
  if (person.blocked) throw blockedAccount()
  const authority = await tokenAuthorityOf(roles, token, person)
  if (!authority) throw new AppError('token.role_missing')
  return { token, person, authority }
}

/**
 * Who bears a session and what they may do as its user, as things stand. Of a session with an origin it is not the whole
 * truth: that goes by who bears the origin.
 * @throws {AppError} unauthenticated where it is good for nothing, forbidden where its user is blocked
 */
export async function sessionCredential(
  { sessions, users, roles }: Tenant,
  { id, user }: { id: string | Types.ObjectId; user: string | Types.ObjectId },
): Promise<SessionCredential> {
  const [session, person] = await Promise.all([sessions.findOne({ _id: id, user }), users.findOne({ _id: user })])
  // Blocking ends the sessions of an account; while it lasts, they say so.
  if (person?.blocked) throw blockedAccount()
  if (!person || !session || session.expiresAt.getTime() <= Date.now()) throw badSession()
  const authority = await authorityOf(roles, person)
  if (!authority) throw badSession()
  return { session, person, authority }
}

/** Who bears the credential that a session hangs on, which is this user's; throws as they do. */
export function originCredential(
  tenant: Tenant,
  { kind, id }: Origin,
  user: string | Types.ObjectId,
): Promise<Credential> {
  return kind === 'token' ? tokenCredential(tenant, { _id: id }) : sessionCredential(tenant, { id, user })
}

/** How many milliseconds something lasts that hangs on what is borne: so many, or until that ends. */
export function lifetimeWithin(credential: Credential, longestMs: number): number {
  const { expiresAt } = 'token' in credential ? credential.token : credential.session
  return expiresAt === null ? longestMs : Math.min(longestMs, expiresAt.getTime() - Date.now())
}

/** The refusal of whoever acts for a blocked account. */
export function blockedAccount(): AppError {
  return new AppError('account.blocked')
}

/** The refusal of a session that is not, or no longer. */
export function badSession(): AppError {
  return new AppError('session.invalid')
}

function isUsable({ active, archived, expiresAt }: Token): boolean {
  return active && !archived && (expiresAt === null || expiresAt.getTime() > Date.now())
}
