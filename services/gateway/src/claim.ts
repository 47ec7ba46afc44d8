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

/** A credential as the cache keeps it. */
export type CachedCredential = CachedValue & { caller: Caller; allowedIps: string[] }

/** What a request presents: nothing that counts, since the route is public; no valid credential; or one to resolve. */
export type Claim =
  | { kind: 'public' }
  | { kind: 'invalid'; code: MalformedCode | 'session.invalid' | 'credential.missing' }
  | CredentialClaim

/** What a credential claims, and how to find out whether it is so. */
export type CredentialClaim = {
  kind: 'credential'
  source: CredentialSource
  ref: CredentialRef
  /** What the cache knows; requested while the limits are counted. Never rejects. Absent where the cache is bypassed. */
  cached?: Promise<Lookup<CachedCredential>>
  /** Asks the service that stores the credential. */
  resolve(context: CallContext): Promise<ResolvedCredential>
  /** The `resource.action` pairs that a session JWT is limited to. */
  scope?: string[]
  isImpersonation: boolean
}

/** What claims are read with. */
export type ClaimOptions = {
  cache: CredentialCache<CachedCredential>
  sessions: SessionJwt
  /** Hashes the secrets of API tokens. */
  tokenSecrets: SecretHasher
  identity: Client<'rollcall.identity.v1.Credentials'>
  /** Who resolves API tokens on control-plane routes. */
  tenantServers: TenantServers
}

/** Cookies that may carry a session or an API token, by what they are to the credential. */
export const cookieNames = {
  /** Only the host itself can set it, over https (RFC 6265bis, 4.1.3.2): it wins over the names that anybody may plant. */
  host: '__Host-auth_token',
  plain: 'auth_token',
  authorization: 'authorization',
} as const

/** Ids of secrets to remember. A stranger who tries many only has those of others computed anew. */
const rememberedIds = 10_000

/** Parses the credential of a request, from its headers and cookies. */
export function credentialOf(headers: IncomingHttpHeaders): Credential {
  const cookies = headers.cookie === undefined ? undefined : parseCookie(headers.cookie)
  return parseCredential({
    authorization: headers.authorization,
    authTokenCookie: cookies?.[cookieNames.host] || cookies?.[cookieNames.plain],
    authorizationCookie: cookies?.[cookieNames.authorization],
  })
}

/** Returns what turns a credential into its claim, and requests it from the cache. */
export function claimReader({ cache, sessions, tokenSecrets, identity, tenantServers }: ClaimOptions) {
  const cacheIdOf = rememberingCacheId(tokenSecrets)

  const tokenClaim = (credential: Extract<Credential, { kind: 'token' }>, isControlPlane: boolean): Claim => {
    const { source, organizationId, secret } = credential
    const ref: CredentialRef = { organizationId, kind: 'token', id: cacheIdOf(secret) }
    // On the control plane the organization's tenant server has the word, each time.
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
  const ids = new LRUCache<string, string>({ max: rememberedIds })
  return secret => {
    const known = ids.get(secret)
    if (known) return known
    const id = tokenCacheId(secrets.hash(secret), secret)
    ids.set(secret, id)
    return id
  }
}
