import { AppError } from '@rollcall/contract'
import {
  type CachedValue,
  type Credential,
  type CredentialCache,
  type CredentialRef,
  type CredentialSource,
  credentialMessages,
  type Lookup,
  parseCredential,
  type SecretHasher,
  type SessionJwt,
  tokenCacheId,
} from '@rollcall/credentials'
import type { ResolvedCredential } from '@rollcall/protos/gen/identity-v1.ts'
import { anonymousCaller, type CallContext, type Caller, type Client, serviceCaller } from '@rollcall/rpc'
import { createMemo, type Metrics } from '@rollcall/runtime'
import { parseCookie } from 'cookie'
import { isInBlocks } from './address.ts'
import { isForgeable } from './authorize.ts'
import type { Exchange, Step } from './exchange.ts'
import { cookieNames } from './routes/session-cookie.ts'
import type { TenantServers } from './tenant-servers.ts'

/** A credential as the cache keeps it. */
export type CachedCredential = CachedValue & { caller: Caller; allowedIps: string[] }

/** What credentials are resolved with. */
export type AuthenticationOptions = {
  cache: CredentialCache<CachedCredential>
  sessions: SessionJwt
  /** Hashes the secrets of API tokens. */
  tokenSecrets: SecretHasher
  identity: Client<'rollcall.identity.v1.Credentials'>
  /** Who resolves API tokens on control-plane routes. */
  tenantServers: TenantServers
  metrics: Metrics
}

/** What a request's credential claims, and how to find out whether it is so. */
export type Claim = {
  source: CredentialSource
  ref: CredentialRef
  /** What the cache knows; asked for while the limits are counted. Never rejects. Absent where the cache has no say. */
  known?: Promise<Lookup<CachedCredential>>
  ask(context: CallContext): Promise<ResolvedCredential>
  /** The `resource.action` pairs that a session JWT is limited to. */
  scope?: string[]
  isImpersonation: boolean
}

const longestUserAgent = 256
/** Ids of secrets to remember. A stranger who tries many only has those of others computed anew. */
const rememberedIds = 10_000

/**
 * The two halves of finding out who calls. `ask` reads the credential and asks the cache, in the same turn as the limits
 * are asked: both questions reach Redis in one write, and one round trip answers them. `authenticate` waits for it: on a
 * miss it asks identity, which it also does each time while Redis is away. A public route does not look at credentials,
 * except one via browser: it passes on the id of a genuine session JWT, and the service checks whether the session is alive.
 */
export function authentication(options: AuthenticationOptions): { ask: Step; authenticate: Step } {
  const { cache, sessions } = options
  const claimOf = claimReader(options)
  const lookups = options.metrics.counter({
    name: 'rollcall_credential_lookups_total',
    help: 'Credentials looked up in the cache',
    labels: ['kind', 'result'],
  })

  const resolve = async ({ ref, known, ask }: Claim, exchange: Exchange): Promise<CachedCredential> => {
    const found = await known
    lookups.inc({ kind: ref.kind, result: found?.kind ?? 'bypassed' })
    if (found?.kind === 'hit') return found.value
    const { id: requestId, deadline, signal } = exchange
    const answer = await ask({ caller: serviceCaller('gateway', ref.organizationId), requestId, deadline, signal })
    refuseForeignAnswer(ref, answer)
    const value = toCached(answer)
    if (found?.kind === 'miss') void cache.fill(ref, found.ticket, value)
    return value
  }

  return {
    ask(exchange) {
      if (isPublic(exchange)) return
      const credential = credentialOf(exchange)
      exchange.credential = credential.kind
      exchange.claim = claimOf(credential, exchange.match?.route.isControlPlane ?? false)
    },

    async authenticate(exchange) {
      if (isPublic(exchange)) {
        exchange.caller = callerOf(visitor(exchange, sessions), exchange)
        return
      }
      const { claim } = exchange
      if (typeof claim !== 'object') throw new AppError('unauthenticated', { message: claim ?? 'No credential.' })
      const { caller, allowedIps } = await resolve(claim, exchange)
      exchange.caller = callerOf(narrowed(caller, claim), exchange)
      if (allowedIps.length > 0 && !isInBlocks(exchange.ip, allowedIps)) {
        throw new AppError('forbidden', { message: 'This token may not be used from this address.' })
      }
    },
  }
}

const isPublic = ({ match }: Exchange) => match?.route.access.kind === 'public'

function visitor(exchange: Exchange, sessions: SessionJwt): Caller {
  const caller = anonymousCaller()
  if (exchange.match?.route.via !== 'browser') return caller
  const credential = credentialOf(exchange)
  if (credential.kind !== 'session' || isForgeable(exchange.request, credential.source)) return caller
  const claims = sessions.verify(credential.jwt)
  return claims ? { ...caller, sessionId: claims.sid } : caller
}

function credentialOf({ request: { headers } }: Exchange): Credential {
  const cookies = headers.cookie === undefined ? undefined : parseCookie(headers.cookie)
  return parseCredential({
    authorization: headers.authorization,
    authTokenCookie: cookies?.[cookieNames.host] || cookies?.[cookieNames.plain],
    authorizationCookie: cookies?.[cookieNames.authorization],
  })
}

/** Reads the claim of a credential, or why it can be none. */
function claimReader({ cache, sessions, tokenSecrets, identity, tenantServers }: AuthenticationOptions) {
  const cacheIdOf = rememberingCacheId(tokenSecrets)

  const tokenClaim = (credential: Extract<Credential, { kind: 'token' }>, isControlPlane: boolean): Claim => {
    const { source, organizationId, secret } = credential
    const ref: CredentialRef = { organizationId, kind: 'token', id: cacheIdOf(secret) }
    // On the control plane the organization's tenant server has the word, each time.
    const resolver = isControlPlane ? tenantServers.of(organizationId) : identity
    return {
      source,
      ref,
      ...(!isControlPlane && { known: cache.lookup(ref) }),
      ask: context => resolver.resolveToken({ organizationId, hashes: tokenSecrets.hashes(secret) }, context),
      isImpersonation: false,
    }
  }

  const sessionClaim = ({ source, jwt }: Extract<Credential, { kind: 'session' }>): Claim | string => {
    const claims = sessions.verify(jwt)
    if (!claims) return credentialMessages.badSession
    const { org: organizationId, sid: sessionId, sub: userId, scope, act } = claims
    const ref: CredentialRef = { organizationId, kind: 'session', id: sessionId }
    return {
      source,
      ref,
      known: cache.lookup(ref),
      ask: context => identity.resolveSession({ organizationId, sessionId, userId }, context),
      isImpersonation: act !== undefined,
      ...(scope !== undefined && { scope: scope.split(' ') }),
    }
  }

  return (credential: Credential, isControlPlane: boolean): Claim | string => {
    switch (credential.kind) {
      case 'none':
        return 'No credential.'
      case 'invalid':
        return credential.message
      case 'token':
        return tokenClaim(credential, isControlPlane)
      case 'session':
        return sessionClaim(credential)
    }
  }
}

function rememberingCacheId(secrets: SecretHasher): (secret: string) => string {
  const ids = createMemo<string>(rememberedIds)
  return secret => {
    const known = ids.get(secret)
    if (known) return known
    const id = tokenCacheId(secrets.hash(secret), secret)
    ids.set(secret, id)
    return id
  }
}

/** An answer counts only for what was asked: a tenant server has no say about other organizations or about sessions. */
function refuseForeignAnswer(ref: CredentialRef, answer: ResolvedCredential): void {
  const isOwn = answer.organizationId === ref.organizationId
  // A session that a token was exchanged for resolves to that token.
  const isKind = answer.kind === 'token' || ref.kind === 'session'
  if (!isOwn || !isKind) throw new AppError('unauthenticated', { message: credentialMessages.unknownToken })
}

function toCached(answer: ResolvedCredential): CachedCredential {
  const { kind, expiresAt, allowedIps, permissions, userId, ...rest } = answer
  const caller: Caller = {
    ...rest,
    kind: kind === 'token' ? 'token' : 'session',
    userId: userId || null,
    permissions: permissions.includes('*') ? '*' : permissions,
  }
  return { caller, allowedIps, expiresAt: expiresAt ? Date.parse(expiresAt) : null }
}

/** A JWT may say less than its session: an impersonation only reads, a scope leaves some permissions out. */
function narrowed(caller: Caller, { scope, isImpersonation }: Claim): Caller {
  if (!scope && !isImpersonation) return caller
  const { permissions } = caller
  return {
    ...caller,
    ...(scope && { scope }),
    readOnly: caller.readOnly || isImpersonation,
    permissions: scope ? scope.filter(pair => permissions === '*' || permissions.includes(pair)) : permissions,
  }
}

function callerOf(caller: Caller, { ip, request }: Exchange): Caller {
  const userAgent = request.headers['user-agent']?.slice(0, longestUserAgent)
  return { ...caller, ip, ...(userAgent !== undefined && { userAgent }) }
}
