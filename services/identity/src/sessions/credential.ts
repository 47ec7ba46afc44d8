import { AppError } from '@rollcall/contract'
import type { Caller } from '@rollcall/rpc'
import type { Filter } from '@rollcall/store'
import type { ClientSession, Types } from 'mongoose'
import type { Tenant } from '../collections.ts'
import { type Authority, authorityOf, tokenAuthorityOf } from '../roles/authority.ts'
import type { Token } from '../tokens/token.model.ts'
import type { User } from '../users/user.model.ts'
import type { Origin, Session } from './session.model.ts'

/** The user that a credential authenticates, with their current role and permissions. */
type Holder = { person: User; authority: Authority }
/** A valid API token with the user that it acts for. */
export type TokenCredential = Holder & { token: Token }
/** A valid session with its user. */
export type SessionCredential = Holder & { session: Session }
/** A valid credential. */
export type Credential = TokenCredential | SessionCredential

/** As `Store.readLatest` needs it, in which credentials are read. */
export const committed = { readConcern: 'majority' } as const

/**
 * Returns the token that a filter matches, with its creator and current permissions.
 * @throws {AppError} token.invalid, token.creator_missing, token.role_missing, account.blocked if its creator is
 * blocked
 */
export async function tokenCredential({ tokens, users, roles }: Tenant, named: Filter): Promise<TokenCredential> {
  const token = await tokens.findOne(named, committed)
  if (!token || !isUsable(token)) throw new AppError('token.invalid')
  const person = await users.findOne({ _id: token.creator }, committed)
  if (!person) throw new AppError('token.creator_missing')
  if (person.blocked) throw blockedAccount()
  const authority = await tokenAuthorityOf(roles, token, person)
  if (!authority) throw new AppError('token.role_missing')
  return { token, person, authority }
}

/**
 * Returns a session with its user and current permissions. For a session with an origin, check `originCredential` as
 * well.
 * @throws {AppError} session.invalid, or account.blocked if its user is blocked
 */
export async function sessionCredential(
  { sessions, users, roles }: Tenant,
  { id, user }: { id: string | Types.ObjectId; user: string | Types.ObjectId },
): Promise<SessionCredential> {
  const [session, person] = await Promise.all([
    sessions.findOne({ _id: id, user }, committed),
    users.findOne({ _id: user }, committed),
  ])
  // Blocking deletes the sessions; until unblocked, they are refused as blocked.
  if (person?.blocked) throw blockedAccount()
  if (!person || !session || hasEnded(session)) throw badSession()
  const authority = await authorityOf(roles, person)
  if (!authority) throw badSession()
  return { session, person, authority }
}

/**
 * Requires that the caller's credential is still valid, in a transaction that creates what a block or a recovery of the
 * account revokes. Writes to the account, so that a concurrent block, deletion or recovery conflicts. Call it first.
 * @throws {AppError} session.invalid, token.invalid, token.creator_missing, account.blocked
 */
export async function holdCredential(
  { tokens, sessions, users }: Tenant,
  { userId, sessionId, tokenId }: Caller,
  tx: ClientSession,
): Promise<void> {
  const person = await users.findOneAndUpdate({ _id: userId }, { $set: {} }, { tx })
  if (person?.blocked) throw blockedAccount()
  if (sessionId !== undefined) {
    const session = await sessions.findOne({ _id: sessionId }, { tx })
    if (!session || hasEnded(session)) throw badSession()
  }
  if (tokenId !== undefined) {
    const token = await tokens.findOne({ _id: tokenId }, { tx })
    if (!token || !isUsable(token)) throw new AppError('token.invalid')
  }
  if (!person) throw tokenId === undefined ? badSession() : new AppError('token.creator_missing')
}

/** Returns the credential that a session was made from; throws like `tokenCredential` and `sessionCredential`. */
export function originCredential(
  tenant: Tenant,
  { kind, id }: Origin,
  user: string | Types.ObjectId,
): Promise<Credential> {
  return kind === 'token' ? tokenCredential(tenant, { _id: id }) : sessionCredential(tenant, { id, user })
}

/**
 * Returns the lifetime of a derived session in milliseconds: `longestMs`, or less if the credential expires earlier.
 */
export function lifetimeWithin(credential: Credential, longestMs: number): number {
  const { expiresAt } = 'token' in credential ? credential.token : credential.session
  return expiresAt === null ? longestMs : Math.min(longestMs, expiresAt.getTime() - Date.now())
}

/** Creates the error for callers whose account is blocked. */
export function blockedAccount(): AppError {
  return new AppError('account.blocked')
}

/** Creates the error for an unknown or ended session. */
export function badSession(): AppError {
  return new AppError('session.invalid')
}

function hasEnded({ expiresAt }: Session): boolean {
  return expiresAt.getTime() <= Date.now()
}

function isUsable({ active, archived, expiresAt }: Token): boolean {
  return active && !archived && (expiresAt === null || expiresAt.getTime() > Date.now())
}
