import { isObjectId } from '@rollcall/contract'
import { isSecretShaped } from './token-secret.ts'

/** The places of a request that can hold its credential; cookies as the cookie parser decoded them. */
export type CredentialSources = {
  authorization?: string | undefined
  authTokenCookie?: string | undefined
  authorizationCookie?: string | undefined
}

/** Where the credential was found. A cookie may have been sent by another site's page. */
export type CredentialSource = 'header' | 'cookie'

/** Error code of a malformed credential. */
export type MalformedCode = 'credential.malformed' | 'token.bad_organization' | 'token.invalid'

/** A request's credential, not yet verified. */
export type Credential =
  | { kind: 'none' }
  | { kind: 'invalid'; source: CredentialSource; code: MalformedCode }
  | { kind: 'token'; source: CredentialSource; organizationId: string; secret: string }
  | { kind: 'session'; source: CredentialSource; jwt: string }

const JWT_PATTERN = /^[\w-]+\.[\w-]+\.[\w-]+$/

/**
 * Reads a request's credential. The header takes precedence over the cookies, and `auth_token` over `authorization`. A
 * leading `Bearer ` is removed; blank values count as missing. A value with a colon is an API token, split at the first
 * colon; any other is a session JWT. Never throws and does no look-up.
 */
export function parseCredential(sources: CredentialSources): Credential {
  const fromHeader = withoutBearer(sources.authorization)
  if (fromHeader) return readValue(fromHeader, 'header')
  const fromCookie = withoutBearer(sources.authTokenCookie) || withoutBearer(sources.authorizationCookie)
  return fromCookie ? readValue(fromCookie, 'cookie') : { kind: 'none' }
}

function withoutBearer(value = ''): string {
  return value.replace(/^\s*bearer\s/i, '').trim()
}

function readValue(value: string, source: CredentialSource): Credential {
  const colon = value.indexOf(':')
  if (colon !== -1) return readToken(value.slice(0, colon), value.slice(colon + 1), source)
  if (JWT_PATTERN.test(value)) return { kind: 'session', source, jwt: value }
  return { kind: 'invalid', source, code: 'credential.malformed' }
}

function readToken(organizationId: string, secret: string, source: CredentialSource): Credential {
  if (!isObjectId(organizationId)) {
    return { kind: 'invalid', source, code: 'token.bad_organization' }
  }
  if (!isSecretShaped(secret)) return { kind: 'invalid', source, code: 'token.invalid' }
  // One spelling per organization: another spelling would have other fences.
  return { kind: 'token', source, organizationId: organizationId.toLowerCase(), secret }
}
