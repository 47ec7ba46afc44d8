import { sign, verify } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Caller } from './caller.ts'
import { keyName, type PublicKeys, type SigningKey } from './service-keys.ts'

const LIFETIME_MS = 30_000
const SKEW_MS = 5_000
/** Cache size. A signature takes 70 µs and its check 200 µs, more than the rest of a call. */
const REMEMBERED = 4_096

/** The caller, and the service that asserts it. */
export type Assertion = { issuer: string; caller: Caller }

/** Returns the signed assertion of a caller for one rpc: `<payload>.<Ed25519 signature>`, both base64url. */
export type Sign = (caller: Caller, rpc: string, now?: number) => string

/** Returns a verified assertion; undefined if it is missing, forged, expired or for another rpc. */
export type Verify = (assertion: string | undefined, rpc: string, now?: number) => Assertion | undefined

/** An rpc's path includes its service, so an assertion is valid for one rpc of one service. */
type Payload = { iss: string; kid: string; rpc: string; exp: number; caller: Caller }

/** Creates a signer of assertions that are valid for 30 seconds. Reuses an assertion for half of that. */
export function createSigner({ service, id, key }: SigningKey): Sign {
  const signed = new LRUCache<string, { exp: number; assertion: string }>({ max: REMEMBERED })
  return (caller, rpc, now = Date.now()) => {
    const name = `${rpc} ${JSON.stringify(caller)}`
    const known = signed.get(name)
    if (known && known.exp - now > LIFETIME_MS / 2 && known.exp - now <= LIFETIME_MS) return known.assertion
    const exp = now + LIFETIME_MS
    const payload: Payload = { iss: service, kid: id, rpc, exp, caller }
    const text = Buffer.from(JSON.stringify(payload)).toString('base64url')
    const assertion = `${text}.${sign(null, Buffer.from(text), key).toString('base64url')}`
    signed.set(name, { exp, assertion })
    return assertion
  }
}

/** Creates a verifier of assertions. Caches only genuine ones, so forged ones cannot evict them. */
export function createVerifier(keys: PublicKeys): Verify {
  const genuine = new LRUCache<string, Payload>({ max: REMEMBERED })
  const payloadOf = (assertion: string) => {
    const known = genuine.get(assertion)
    if (known) return known
    const payload = readGenuine(assertion, keys)
    if (payload) genuine.set(assertion, payload)
    return payload
  }
  return (assertion, rpc, now = Date.now()) => {
    const payload = assertion === undefined ? undefined : payloadOf(assertion)
    if (!payload || payload.rpc !== rpc) return undefined
    // Clocks differ a little, so assertions from the near future are accepted.
    const isTimely = now <= payload.exp + SKEW_MS && payload.exp <= now + LIFETIME_MS + SKEW_MS
    return isTimely ? { issuer: payload.iss, caller: { ...payload.caller } } : undefined
  }
}

function readGenuine(assertion: string, keys: PublicKeys): Payload | undefined {
  const [text = '', signature = ''] = assertion.split('.')
  const payload = parse(text)
  const key = payload && keys.get(keyName(payload.iss, payload.kid))
  return key && verify(null, Buffer.from(text), key, Buffer.from(signature, 'base64url')) ? payload : undefined
}

function parse(text: string): Payload | undefined {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString()) as Payload
  } catch {
    return undefined
  }
}
