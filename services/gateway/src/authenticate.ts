import { AppError, needsSecondFactor } from '@rollcall/contract'
import { type CredentialRef, isAllowedAddress, type SessionJwt } from '@rollcall/credentials'
import type { ResolvedCredential } from '@rollcall/protos/gen/identity-v1.ts'
import { anonymousCaller, type Caller, serviceCaller } from '@rollcall/rpc'
import type { Metrics } from '@rollcall/runtime'
import { isForgeable } from './authorize.ts'
import { type CachedCredential, type ClaimOptions, type CredentialClaim, claimReader, credentialOf } from './claim.ts'
import type { Authenticated, Claimed, Counted, Exchange } from './exchange.ts'
import type { Step } from './steps.ts'
import type { TokenUsage } from './token-usage.ts'

/** Authentication in two steps. */
export type Authentication = {
  prefetchCredential(exchange: Exchange): Claimed
  authenticate: Step<Counted, Authenticated>
  /** Sets the allowed origins of an exchange that failed before `authenticate`, if the cache knows its credential. */
  recallOrigins(exchange: Exchange): Promise<void>
}

/** What `authentication` needs. */
export type AuthenticationOptions = ClaimOptions & {
  metrics: Metrics
  tokenUsage: Pick<TokenUsage, 'noteRefused'>
}

const MAX_USER_AGENT_LENGTH = 256

/**
 * Creates the steps. `prefetchCredential` parses the credential and queries the cache in the same tick as the limits,
 * so that both share one round trip to Redis. `authenticate` awaits the result. On a miss, and while Redis is down, it
 * calls identity. Public routes ignore credentials. If one is for browsers, it passes on the session id of a valid
 * session JWT, and the service checks whether the session still exists.
 */
export function authentication(options: AuthenticationOptions): Authentication {
  const { cache, sessions, tokenUsage } = options
  const claimOf = claimReader(options)
  const lookups = options.metrics.counter({
    name: 'rollcall_credential_lookups_total',
    help: 'Lookups of credentials in the cache',
    labels: ['kind', 'result'],
  })

  const resolve = async (claim: CredentialClaim, exchange: Exchange): Promise<CachedCredential> => {
    const { ref } = claim
    const found = await claim.cached
    lookups.inc({ kind: ref.kind, result: found?.kind ?? 'bypassed' })
    if (found?.kind === 'hit') return found.value
    const { id: requestId, deadline, signal } = exchange
    const caller = { ...serviceCaller('gateway', ref.organizationId), ip: exchange.ip }
    const resolved = await claim.resolve({ caller, requestId, deadline, signal })
    refuseForeignAnswer(ref, resolved)
    const value = toCached(resolved)
    if (found?.kind === 'miss') void cache.fill(ref, found.ticket, value)
    return value
  }

  return {
    prefetchCredential(exchange) {
      const route = exchange.match?.route
      if (route?.access.kind === 'public') return Object.assign(exchange, { claim: { kind: 'public' } as const })
      const credential = credentialOf(exchange.request.headers)
      exchange.credential = credential.kind
      return Object.assign(exchange, { claim: claimOf(credential, route?.isControlPlane ?? false) })
    },

    async recallOrigins(exchange) {
      const { request, claim } = exchange
      if (request.headers.origin === undefined || exchange.allowedOrigins || claim?.kind !== 'credential') return
      const found = await claim.cached
      if (found?.kind === 'hit') exchange.allowedOrigins = found.value.allowedOrigins
    },

    async authenticate(exchange) {
      const { claim } = exchange
      if (claim.kind === 'invalid') throw new AppError(claim.code)
      if (claim.kind === 'public') return withCaller(exchange, publicCaller(exchange, sessions))
      const { caller, allowedIps, allowedOrigins, secondFactorMissing } = await resolve(claim, exchange)
      exchange.allowedOrigins = allowedOrigins
      const authenticated = withCaller(exchange, narrowed(caller, claim))
      if (!isAllowedAddress(exchange.ip, allowedIps)) {
        tokenUsage.noteRefused(authenticated)
        throw new AppError('token.address_refused')
      }
      if (secondFactorMissing && exchange.match && needsSecondFactor(exchange.match.route))
        throw new AppError('access.second_factor_required')
      return authenticated
    },
  }
}

function publicCaller(exchange: Exchange, sessions: SessionJwt): Caller {
  const { match, request } = exchange
  const caller = anonymousCaller()
  if (match?.route.carrier.credential !== 'session') return caller
  const credential = credentialOf(request.headers)
  if (credential.kind !== 'session' || isForgeable(exchange, credential.source)) return caller
  const claims = sessions.verify(credential.jwt)
  return claims ? { ...caller, sessionId: claims.sid } : caller
}

/** Refuses an answer for another credential: a tenant server cannot vouch for other organizations or for sessions. */
function refuseForeignAnswer(ref: CredentialRef, answer: ResolvedCredential): void {
  const isOwn = answer.organizationId === ref.organizationId
  // A session created from a token (token exchange) resolves to that token.
  const isExpectedKind = answer.kind === 'token' || ref.kind === 'session'
  if (!isOwn || !isExpectedKind) throw new AppError('token.invalid')
}

function toCached(answer: ResolvedCredential): CachedCredential {
  const { kind, expiresAt, allowedIps, allowedOrigins, secondFactorMissing = false, ...rest } = answer
  const { permissions, userId, ...identity } = rest
  const caller: Caller = {
    ...identity,
    kind: kind === 'token' ? 'token' : 'session',
    userId: userId || null,
    permissions: permissions.includes('*') ? '*' : permissions,
  }
  return {
    caller,
    allowedIps,
    allowedOrigins,
    secondFactorMissing,
    expiresAt: expiresAt ? Date.parse(expiresAt) : null,
  }
}

/** Limits the caller to what its JWT grants: an impersonation is read-only, a scope restricts permissions. */
function narrowed(caller: Caller, { scope, isImpersonation }: CredentialClaim): Caller {
  if (!scope && !isImpersonation) return caller
  const { permissions } = caller
  return {
    ...caller,
    ...(scope && { scope }),
    readOnly: caller.readOnly || isImpersonation,
    permissions: scope ? scope.filter(pair => permissions === '*' || permissions.includes(pair)) : permissions,
  }
}

function withCaller(exchange: Counted, caller: Caller): Authenticated {
  return Object.assign(exchange, { caller: { ...caller, ...clientOf(exchange) } })
}

/** Returns address and user agent of the client. */
export function clientOf({ ip, request }: Exchange): Pick<Caller, 'ip' | 'userAgent'> {
  const userAgent = request.headers['user-agent']?.slice(0, MAX_USER_AGENT_LENGTH)
  return { ip, ...(userAgent !== undefined && { userAgent }) }
}
