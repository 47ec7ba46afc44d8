import type { IncomingHttpHeaders } from 'node:http'
import {
  type CachedValue,
  type Credential,
  type CredentialCache,
  type CredentialRef,
  type CredentialSource,
  type Lookup,
  type MalformedCode,
  parseCredential,
  type SecretHasher,
  type SessionJwt,
  tokenCacheId,
} from '@rollcall/credentials'
import type { ResolvedCredential } from '@rollcall/protos/gen/identity-v1.ts'
import type { CallContext, Caller, Client } from '@rollcall/rpc'
import { parseCookie } from 'cookie'
import { LRUCache } from 'lru-cache'
import type { TenantServers } from './tenant-servers.ts'

/** A credential as the cache stores it. */
export type CachedCredential = CachedValue & {
  caller: Caller
  allowedIps: string[]
  /** Origins of web pages that may call for the organization. */
  allowedOrigins: string[]
  /** Whether the organization requires a second factor that the person does not have. */
  secondFactorMissing: boolean
}

/** The credential of a request: ignored (public route), invalid, or to be resolved. */
export type Claim =
  | { kind: 'public' }
  | { kind: 'invalid'; code: MalformedCode | 'session.invalid' | 'credential.missing' }
  | CredentialClaim

/** A well-formed credential, and how to resolve it. */
export type CredentialClaim = {
  kind: 'credential'
  source: CredentialSource
  ref: CredentialRef
  /** The result of the cache lookup. Never rejects. Absent if the cache is bypassed. */
  cached?: Promise<Lookup<CachedCredential>>
  /** Resolves the credential at the service that stores it. */
  resolve(context: CallContext): Promise<ResolvedCredential>
  /** The `resource.action` pairs that a session JWT is limited to. */
  scope?: string[]
  isImpersonation: boolean
}

/** What `claimReader` needs. */
export type ClaimOptions = {
  cache: CredentialCache<CachedCredential>
  sessions: SessionJwt
  /** Hashes the secrets of API tokens. */
  tokenSecrets: SecretHasher
  identity: Client<'rollcall.identity.v1.Credentials'>
  /** They resolve API tokens on control-plane routes. */
  tenantServers: TenantServers
}

/** Names of the cookies that may carry a session or an API token. */
export const cookieNames = {
  /**
   * Only the host itself can set it, over https (RFC 6265bis, 4.1.3.2). So it wins over names that other hosts can set.
   */
  host: '__Host-auth_token',
  plain: 'auth_token',
  authorization: 'authorization',
} as const

/** Maximum ids to cache. An attacker who tries many secrets only makes the gateway compute ids again. */
const REMEMBERED_IDS = 10_000

/** Parses the credential of a request from its headers and cookies. */
export function credentialOf(headers: IncomingHttpHeaders): Credential {
  const cookies = headers.cookie === undefined ? undefined : parseCookie(headers.cookie)
  return parseCredential({
    authorization: headers.authorization,
    authTokenCookie: cookies?.[cookieNames.host] || cookies?.[cookieNames.plain],
    authorizationCookie: cookies?.[cookieNames.authorization],
  })
}

/** Returns a function that turns a credential into a claim and starts the cache lookup. */
export function claimReader({ cache, sessions, tokenSecrets, identity, tenantServers }: ClaimOptions) {
  const cacheIdOf = rememberingCacheId(tokenSecrets)

  const tokenClaim = (credential: Extract<Credential, { kind: 'token' }>, isControlPlane: boolean): Claim => {
    const { source, organizationId, secret } = credential
    const ref: CredentialRef = { organizationId, kind: 'token', id: cacheIdOf(secret) }
    // On the control plane, the organization's tenant server decides each time.
    const resolver = isControlPlane ? tenantServers.of(organizationId) : identity
    return {
      kind: 'credential',
      source,
      ref,
      ...(!isControlPlane && { cached: cache.lookup(ref) }),
      resolve: context => resolver.resolveToken({ organizationId, hashes: tokenSecrets.hashes(secret) }, context),
      isImpersonation: false,
    }
  }

  const sessionClaim = ({ source, jwt }: Extract<Credential, { kind: 'session' }>): Claim => {
    const claims = sessions.verify(jwt)
    if (!claims) return { kind: 'invalid', code: 'session.invalid' }
    const { org: organizationId, sid: sessionId, sub: userId, scope, act } = claims
    const ref: CredentialRef = { organizationId, kind: 'session', id: sessionId }
    return {
      kind: 'credential',
      source,
      ref,
      cached: cache.lookup(ref),
      resolve: context => identity.resolveSession({ organizationId, sessionId, userId }, context),
      isImpersonation: act !== undefined,
      ...(scope !== undefined && { scope: scope.split(' ') }),
    }
  }

  return (credential: Credential, isControlPlane: boolean): Claim => {
    switch (credential.kind) {
      case 'none':
        return { kind: 'invalid', code: 'credential.missing' }
      case 'invalid':
        return credential
      case 'token':
        return tokenClaim(credential, isControlPlane)
      case 'session':
        return sessionClaim(credential)
    }
  }
}

function rememberingCacheId(secrets: SecretHasher): (secret: string) => string {
  const ids = new LRUCache<string, string>({ max: REMEMBERED_IDS })
  return secret => {
    const known = ids.get(secret)
    if (known) return known
    const id = tokenCacheId(secrets.hash(secret), secret)
    ids.set(secret, id)
    return id
  }
}
