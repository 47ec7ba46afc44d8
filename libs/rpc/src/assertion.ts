import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto'
import type { Caller } from './caller.ts'

const lifetimeMs = 30_000
const skewMs = 5_000

/** Keys that services prove their callers with: the first signs, all of them verify, so that a key can be rotated. */
export type AssertionKeys = readonly KeyObject[]

/** Reads assertion keys from configuration: base64, at least 32 bytes each, separated by commas. */
export function readAssertionKeys(text: string): AssertionKeys {
  return text.split(',').map(part => {
    const bytes = Buffer.from(part.trim(), 'base64')
    if (bytes.length < 32) throw new RangeError('an assertion key has at least 32 bytes, in base64')
    return createSecretKey(bytes)
  })
}

/** Signs a caller into an assertion that is good for 30 seconds: `<payload>.<HMAC-SHA-256>`, both base64url. */
export function signAssertion(caller: Caller, keys: AssertionKeys, now = Date.now()): string {
  const payload = Buffer.from(JSON.stringify({ ...caller, exp: now + lifetimeMs })).toString('base64url')
  return `${payload}.${mac(payload, keys[0]!).toString('base64url')}`
}

/** Reads an assertion; undefined where it is missing, forged or past its time. */
export function verifyAssertion(
  assertion: string | undefined,
  keys: AssertionKeys,
  now = Date.now(),
): Caller | undefined {
  const dot = assertion?.indexOf('.') ?? -1
  if (assertion === undefined || dot < 0) return undefined
  const payload = assertion.slice(0, dot)
  const given = Buffer.from(assertion.slice(dot + 1), 'base64url')
  const genuine = keys.some(key => given.length === 32 && timingSafeEqual(mac(payload, key), given))
  if (!genuine) return undefined
  const { exp, ...caller } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Caller & { exp: number }
  // Clocks of machines differ a little; an assertion from far ahead is no better than one from far behind.
  return now <= exp + skewMs && exp <= now + lifetimeMs + skewMs ? caller : undefined
}

function mac(payload: string, key: KeyObject): Buffer {
  return createHmac('sha256', key).update(payload).digest()
}
