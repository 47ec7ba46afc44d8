import type { KeyObject } from 'node:crypto'
import jwt from 'jsonwebtoken'
import { LRUCache } from 'lru-cache'
import type { KeyRing } from './keys.ts'

const ALGORITHM = 'HS256'

/** The claims of a session JWT. Times are seconds since 1970. */
export type SessionClaims = {
  /** Id of the account. */
  sub: string
  /** Id of its organization. */
  org: string
  /** Id of the session; checked for revocation on every request. */
  sid: string
  /** The account's role when the JWT was signed; its permissions are resolved on every request. */
  role: string
  iat: number
  exp: number
  /** The actor of an impersonation (RFC 8693), which is read-only. */
  act?: { sub: string }
  /** The `resource.action` pairs the JWT is limited to, separated by spaces (RFC 8693). */
  scope?: string
}

/** Signs and verifies session JWTs. */
export type SessionJwt = {
  /** Returns a JWT of these claims, signed with the first key of the ring. */
  sign(claims: SessionClaims): string
  /** Returns the claims of a valid, unexpired JWT, else undefined. Does not check the session for revocation. */
  verify(token: string): Readonly<SessionClaims> | undefined
}

/** Options of `createSessionJwt`; they must be the same in every service. */
export type SessionJwtOptions = {
  keys: KeyRing
  issuer: string
  audience: string
  /** Milliseconds since 1970. */
  clock?: () => number
  /** How many valid JWTs are cached (about 1 KB each). */
  memoCapacity?: number
}

/**
 * Creates the signer and verifier of session JWTs (HS256). Verified JWTs are cached, whole text → claims. This is safe:
 * a signature depends only on the text and on keys that never change in a process. What can change is checked every
 * time: expiry here, revocation by `sid`. Invalid texts are not cached, so clients cannot fill the cache.
 */
export function createSessionJwt(options: SessionJwtOptions): SessionJwt {
  const { keys, issuer, audience, clock = Date.now, memoCapacity = 10_000 } = options
  const [signer] = keys
  if (!signer) throw new Error('a key ring needs a key')
  const [keyid, signingKey] = signer
  const verified = new LRUCache<string, Readonly<SessionClaims>>({ max: memoCapacity })

  const check = (token: string): Readonly<SessionClaims> | undefined => {
    const claims = claimsOf(token, keys, { issuer, audience })
    if (claims) verified.set(token, claims)
    return claims
  }

  return {
    sign: claims => jwt.sign({ ...claims }, signingKey, { algorithm: ALGORITHM, keyid, issuer, audience }),
    verify(token) {
      const claims = verified.get(token) ?? check(token)
      return claims && claims.exp * 1000 > clock() ? claims : undefined
    },
  }
}

function claimsOf(token: string, keys: KeyRing, expected: { issuer: string; audience: string }) {
  try {
    const key = keyOf(token, keys)
    const payload = key && jwt.verify(token, key, { ...expected, algorithms: [ALGORITHM], ignoreExpiration: true })
    return isSessionClaims(payload) ? frozen(payload) : undefined
  } catch {
    return undefined
  }
}

function keyOf(token: string, keys: KeyRing): KeyObject | undefined {
  const kid = jwt.decode(token, { complete: true })?.header.kid
  return kid === undefined ? undefined : keys.get(kid)
}

/** Returns only the claims, frozen, because all requests with this JWT share them. */
function frozen({ sub, org, sid, role, iat, exp, act, scope }: SessionClaims): Readonly<SessionClaims> {
  const actor = act && { act: Object.freeze({ sub: act.sub }) }
  return Object.freeze({ sub, org, sid, role, iat, exp, ...actor, ...(scope !== undefined && { scope }) })
}

const ID_PATTERN = /^[\w-]{1,64}$/
const isId = (value: unknown) => typeof value === 'string' && ID_PATTERN.test(value)
const isTextOrAbsent = (value: unknown) => value === undefined || typeof value === 'string'

/** Whether the payload has all claims of a session. The same key may sign other kinds of JWT. */
function isSessionClaims(payload: unknown): payload is SessionClaims {
  if (typeof payload !== 'object' || payload === null) return false
  const { sub, org, sid, role, iat, exp, act, scope } = payload as Record<string, unknown>
  const actsAs = act === undefined || (typeof act === 'object' && act !== null && 'sub' in act && isId(act.sub))
  return (
    [sub, org, sid].every(isId) &&
    typeof role === 'string' &&
    [iat, exp].every(Number.isSafeInteger) &&
    actsAs &&
    isTextOrAbsent(scope)
  )
}
