import { AppError } from '@rollcall/contract'
import type { ResolvedCredential } from '@rollcall/protos/gen/identity-v1.ts'
import type { Caller, Handlers } from '@rollcall/rpc'
import type { Scope } from '@rollcall/store'
import type { Tenant } from '../collections.ts'
import type { Context } from '../context.ts'
import { type StoredSettings, settingsOf } from '../organizations/organization.model.ts'
import { hasSecondFactor } from '../second-factor/second-factor.ts'
import { reportRefused } from '../tokens/report-refused.ts'
import type { Token } from '../tokens/token.model.ts'
import type { User } from '../users/user.model.ts'
import {
  badSession,
  type Credential,
  committed,
  originCredential,
  type SessionCredential,
  sessionCredential,
  type TokenCredential,
  tokenCredential,
} from './credential.ts'
import { mayImpersonate } from './impersonate.ts'
import type { Session } from './session.model.ts'

const ACTIVITY_INTERVAL_MS = 60_000
const past = new Date(0).toISOString()

/**
 * Resolves credentials to callers from the database. Clients may cache the answer under the credential cache protocol: it
 * shows every change that was answered before the request. An invalid credential is a 401, one of a blocked account a 403.
 */
export const credentials = ({
  collections,
  secrets,
  store,
}: Pick<Context, 'collections' | 'secrets' | 'store'>): Handlers<'rollcall.identity.v1.Credentials'> => ({
  async resolveToken({ organizationId, hashes }, call) {
    const { caller, logger } = call
    requireService(caller)
    const tenant = collections.of(organizationId)
    const named = { hash: { $in: hashes } }
    const resolve = store.readLatest(async session => ({
      credential: await tokenCredential(collections.of(organizationId, session), named),
      settings: await settingsOf(collections, organizationId, { tx: session, ...committed }),
    }))
    const { credential, settings } = await resolve.catch(error => {
      if (error instanceof AppError && error.code !== 'service.unavailable')
        reportRefused({ collections, store }, organizationId, named, error.code, call)
      throw error
    })
    renewHash(tenant.tokens, credential.token, secrets.token.renewal(credential.token.hash, hashes)).catch(err =>
      logger.warn({ err }, 'token hash renewal failed'),
    )
    return resolvedToken(credential, settings)
  },

  async resolveSession({ organizationId, sessionId, userId }, { caller, logger }) {
    requireService(caller)
    const tenant = collections.of(organizationId)
    const { credential, resolved } = await store.readLatest(async session => {
      const latest = collections.of(organizationId, session)
      const credential = await sessionCredential(latest, { id: sessionId, user: userId })
      const settings = await settingsOf(collections, organizationId, { tx: session, ...committed })
      return { credential, resolved: await resolvedSession(latest, credential, settings) }
    })
    recordActivity(tenant.sessions, credential.session).catch(err =>
      logger.warn({ err }, 'session activity update failed'),
    )
    return resolved
  },
})

/** Updates `lastActiveAt` in the background. Callers cache the answer, so a minute's precision is enough. */
async function recordActivity(sessions: Scope<Session>, { _id, lastActiveAt }: Session): Promise<void> {
  const now = Date.now()
  if (now - lastActiveAt.getTime() < ACTIVITY_INTERVAL_MS) return
  await sessions.updateOne({ _id }, { $set: { lastActiveAt: new Date(now) } })
}

/** Stores the hash under the current key in the background, so that older keys can be removed. */
async function renewHash(tokens: Scope<Token>, { _id, hash }: Token, renewed: string | undefined): Promise<void> {
  if (renewed === undefined) return
  await tokens.updateOne({ _id, hash }, { $set: { hash: renewed } }, { timestamps: false })
}

function requireService(caller: Caller): void {
  if (caller.kind !== 'service') throw new AppError('caller.service_required')
}

/**
 * Resolves a session. A session with an origin is valid only while its origin is, and must not be cached: a change of
 * the origin invalidates the cache entry of the origin alone.
 */
async function resolvedSession(
  tenant: Tenant,
  credential: SessionCredential,
  settings: StoredSettings,
): Promise<ResolvedCredential> {
  const { session, person } = credential
  const lacksFactor = (actor: User) => (settings.requireMfa ?? false) && !hasSecondFactor(actor)
  const { user, impersonatedBy, expiresAt } = session
  const own = {
    ...common(credential, settings),
    kind: 'session',
    secondFactorMissing: lacksFactor(person),
    sessionId: String(session._id),
    readOnly: impersonatedBy !== null,
    ...(impersonatedBy && { impersonatorId: String(impersonatedBy) }),
    expiresAt: expiresAt.toISOString(),
  }
  if (!session.origin) return own
  const origin = await originCredential(tenant, session.origin, impersonatedBy ?? user)
  const original = 'token' in origin ? resolvedToken(origin, settings) : common(origin, settings)
  // The second factor is that of the acting user. API tokens need none.
  const secondFactorMissing = !('token' in origin) && lacksFactor(origin.person)
  if (!impersonatedBy) return { ...own, ...original, secondFactorMissing, expiresAt: past }
  if (!mayImpersonate(origin.authority, person)) throw badSession()
  return { ...own, allowedIps: original.allowedIps, secondFactorMissing, expiresAt: past }
}

function resolvedToken(credential: TokenCredential, settings: StoredSettings): ResolvedCredential {
  const { _id, name, allowedIps, expiresAt } = credential.token
  return {
    ...common(credential, settings),
    kind: 'token',
    tokenId: String(_id),
    tokenName: name,
    allowedIps: allowedIps ?? [],
    ...(expiresAt && { expiresAt: expiresAt.toISOString() }),
  }
}

function common(
  { person, authority: { role, permissions } }: Credential,
  { allowedOrigins = [] }: StoredSettings,
): Omit<ResolvedCredential, 'kind'> {
  return {
    organizationId: String(person.organization),
    userId: String(person._id),
    userName: person.name,
    role,
    permissions: permissions === '*' ? ['*'] : [...permissions],
    allowedIps: [],
    allowedOrigins,
    readOnly: false,
  }
}
