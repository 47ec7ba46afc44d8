import { AppError } from '@rollcall/contract'
import type { CredentialRef, SessionJwt } from '@rollcall/credentials'
import type { ResolvedCredential } from '@rollcall/protos/gen/identity-v1.ts'
import { anonymousCaller, type Caller, serviceCaller } from '@rollcall/rpc'
import type { Metrics } from '@rollcall/runtime'
import { isInBlocks } from './address.ts'
import { isForgeable } from './authorize.ts'
import { type CachedCredential, type ClaimOptions, type CredentialClaim, claimReader, credentialOf } from './claim.ts'
import type { Authenticated, Claimed, Counted, Exchange } from './exchange.ts'
import type { Step } from './steps.ts'

/** The two halves of finding out who calls, as steps. */
export type Authentication = {
  prefetchCredential(exchange: Exchange): Claimed
  authenticate: Step<Counted, Authenticated>
}

const longestUserAgent = 256

/**
 * `prefetchCredential` reads the credential and asks the cache, in the same tick in which the limits are counted: both
 * requests reach Redis in one write, in one round trip. `authenticate` awaits the cache's answer. On a miss, and while
 * Redis is down, it asks identity. A public route ignores credentials, except one via browser: it passes on the id of a
 * genuine session JWT, and the service checks whether the session is alive.
 */
export function authentication(options: ClaimOptions & { metrics: Metrics }): Authentication {
  const { cache, sessions } = options
  const claimOf = claimReader(options)
  const lookups = options.metrics.counter({
    name: 'rollcall_credential_lookups_total',
    help: 'Credentials looked up in the cache',
    labels: ['kind', 'result'],
  })

  const resolve = async (claim: CredentialClaim, exchange: Exchange): Promise<CachedCredential> => {
    const { ref } = claim
    const found = await claim.cached
    lookups.inc({ kind: ref.kind, result: found?.kind ?? 'bypassed' })
    if (found?.kind === 'hit') return found.value
    const { id: requestId, deadline, signal } = exchange
    const caller = serviceCaller('gateway', ref.organizationId)
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

    async authenticate(exchange) {
      const { claim } = exchange
      if (claim.kind === 'invalid') throw new AppError(claim.code)
      if (claim.kind === 'public') return withCaller(exchange, visitor(exchange, sessions))
      const { caller, allowedIps } = await resolve(claim, exchange)
      const authenticated = withCaller(exchange, narrowed(caller, claim))
      if (allowedIps.length > 0 && !isInBlocks(exchange.ip, allowedIps)) {
        throw new AppError('token.address_refused')
      }
      return authenticated
    },
  }
}

function visitor({ match, request }: Exchange, sessions: SessionJwt): Caller {
  const caller = anonymousCaller()
  if (match?.route.carrier.credential !== 'session') return caller
  const credential = credentialOf(request.headers)
  if (credential.kind !== 'session' || isForgeable(request, credential.source)) return caller
  const claims = sessions.verify(credential.jwt)
  return claims ? { ...caller, sessionId: claims.sid } : caller
}

/** Accepts only what was requested: a tenant server cannot vouch for other organizations or for sessions. */
function refuseForeignAnswer(ref: CredentialRef, answer: ResolvedCredential): void {
  const isOwn = answer.organizationId === ref.organizationId
  // A session that a token was exchanged for resolves to that token.
  const isKind = answer.kind === 'token' || ref.kind === 'session'
  if (!isOwn || !isKind) throw new AppError('token.invalid')
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

/** A JWT may grant less than its session: an impersonation only reads, a scope leaves some permissions out. */
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
  const { ip, request } = exchange
  const userAgent = request.headers['user-agent']?.slice(0, longestUserAgent)
  return Object.assign(exchange, { caller: { ...caller, ip, ...(userAgent !== undefined && { userAgent }) } })
}
