import { isObjectId } from '@rollcall/contract'
import { isSecretShaped } from './token-secret.ts'

/** Where a request may carry its credential; cookies are taken as the cookie parser decoded them. */
export type CredentialSources = {
  authorization?: string | undefined
  authTokenCookie?: string | undefined
  authorizationCookie?: string | undefined
}

/** How the credential came: what came by cookie may have been sent by another site's page. */
export type CredentialSource = 'header' | 'cookie'

/** Why a credential that is malformed is refused. */
export type MalformedCode = 'credential.malformed' | 'token.bad_organization' | 'token.invalid'

/** What a request's credential claims to be; nothing of it is verified yet. */
export type Credential =
  | { kind: 'none' }
  | { kind: 'invalid'; source: CredentialSource; code: MalformedCode }
  | { kind: 'token'; source: CredentialSource; organizationId: string; secret: string }
  | { kind: 'session'; source: CredentialSource; jwt: string }

const jwtShape = /^[\w-]+\.[\w-]+\.[\w-]+$/

/**
 * Reads a request's credential. The header wins over the cookies and `auth_token` over `authorization`; a leading
 * `Bearer ` is dropped from any of them, and one that is then blank counts as absent. A value with a colon is an API
 * token, split at the first colon, any other a session JWT. Never throws, and looks nothing up.
 */
export function parseCredential(sources: CredentialSources): Credential {
  const fromHeader = bare(sources.authorization)
  if (fromHeader) return readValue(fromHeader, 'header')
  const fromCookie = bare(sources.authTokenCookie) || bare(sources.authorizationCookie)
  return fromCookie ? readValue(fromCookie, 'cookie') : { kind: 'none' }
}

function bare(value = ''): string {
  return value.replace(/^\s*bearer\s/i, '').trim()
}

function readValue(value: string, source: CredentialSource): Credential {
  const colon = value.indexOf(':')
  if (colon !== -1) return readToken(value.slice(0, colon), value.slice(colon + 1), source)
  if (jwtShape.test(value)) return { kind: 'session', source, jwt: value }
  return { kind: 'invalid', source, code: 'credential.malformed' }
}

function readToken(organizationId: string, secret: string, source: CredentialSource): Credential {
  if (!isObjectId(organizationId)) {
    return { kind: 'invalid', source, code: 'token.bad_organization' }
  }
  if (!isSecretShaped(secret)) return { kind: 'invalid', source, code: 'token.invalid' }
  // One spelling of an organization: another one would be guarded by other fences.
  return { kind: 'token', source, organizationId: organizationId.toLowerCase(), secret }
}
