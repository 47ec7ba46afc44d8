import type { KeyObject } from 'node:crypto'
import jwt from 'jsonwebtoken'
import { LRUCache } from 'lru-cache'
import type { KeyRing } from './keys.ts'

const algorithm = 'HS256'

/** What a session JWT says. Times are seconds since 1970. */
export type SessionClaims = {
  /** The account. */
  sub: string
  /** Its organization. */
  org: string
  /** The session, to be checked for revocation on every request. */
  sid: string
  /** The account's role when the JWT was made; what it may do is resolved on every request. */
  role: string
  iat: number
  exp: number
  /** Who acts as the account (RFC 8693). An impersonation may only read. */
  act?: { sub: string }
  /** The `resource.action` pairs the JWT is limited to, separated by spaces (RFC 8693). */
  scope?: string
}

/** Signs and checks session JWTs. */
export type SessionJwt = {
  /** Makes the JWT of these claims with the first key of the ring. */
  sign(claims: SessionClaims): string
  /** The claims of a genuine JWT that has not expired, else undefined. Whether its session still stands is not known. */
  verify(token: string): Readonly<SessionClaims> | undefined
}

/** Who issues session JWTs and for whom, and the keys they are signed with: the same in every service. */
export type SessionJwtOptions = {
  keys: KeyRing
  issuer: string
  audience: string
  /** Milliseconds since 1970. */
  clock?: () => number
  /** How many genuine JWTs are remembered (about 1 KB each). */
  memoCapacity?: number
}

/**
 * Signs and checks session JWTs (HS256). A genuine JWT is remembered, whole text → claims, and not computed again. That
 * is safe: whether a text is genuine depends on the text and on keys that never change here, and on nothing else; what
 * does change is checked every time, expiry here and revocation by `sid`. Refused texts are not remembered, so no
 * stranger can fill the memo, and its size is bounded.
 */
export function createSessionJwt(options: SessionJwtOptions): SessionJwt {
  const { keys, issuer, audience, clock = Date.now, memoCapacity = 10_000 } = options
  const [signer] = keys
  if (!signer) throw new Error('a key ring needs a key')
  const [keyid, signingKey] = signer
  const genuine = new LRUCache<string, Readonly<SessionClaims>>({ max: memoCapacity })

  const check = (token: string): Readonly<SessionClaims> | undefined => {
    const claims = claimsOf(token, keys, { issuer, audience })
    if (claims) genuine.set(token, claims)
    return claims
  }

  return {
    sign: claims => jwt.sign({ ...claims }, signingKey, { algorithm, keyid, issuer, audience }),
    verify(token) {
      const claims = genuine.get(token) ?? check(token)
      return claims && claims.exp * 1000 > clock() ? claims : undefined
    },
  }
}

function claimsOf(token: string, keys: KeyRing, expected: { issuer: string; audience: string }) {
  try {
    const key = keyOf(token, keys)
    const payload = key && jwt.verify(token, key, { ...expected, algorithms: [algorithm], ignoreExpiration: true })
    return isSessionClaims(payload) ? frozen(payload) : undefined
  } catch {
    return undefined
  }
}

function keyOf(token: string, keys: KeyRing): KeyObject | undefined {
  const kid = jwt.decode(token, { complete: true })?.header.kid
  return kid === undefined ? undefined : keys.get(kid)
}

/** The claims alone, and unchangeable: every request with this JWT shares them. */
function frozen({ sub, org, sid, role, iat, exp, act, scope }: SessionClaims): Readonly<SessionClaims> {
  const actor = act && { act: Object.freeze({ sub: act.sub }) }
  return Object.freeze({ sub, org, sid, role, iat, exp, ...actor, ...(scope !== undefined && { scope }) })
}

const idShape = /^[\w-]{1,64}$/
const isId = (value: unknown) => typeof value === 'string' && idShape.test(value)
const isTextOrAbsent = (value: unknown) => value === undefined || typeof value === 'string'

/** A signature says who wrote the claims, not that they are whole: a JWT of another kind may be signed by the same key. */
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
