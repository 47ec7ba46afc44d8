import { createHmac, createSecretKey, hkdfSync, type KeyObject, timingSafeEqual } from 'node:crypto'
import type { KeyRing } from './keys.ts'

/** Purposes of stored secrets. A hash is valid for its own purpose only. */
export const secretPurposes = [
  'token',
  'client',
  'sign-in-code',
  'sign-in-request',
  'sign-in-address',
  'pending-sign-in',
  'account-state',
  'password-reset',
  'email-change',
  'invitation',
  'mailed-invitation',
  'erased-address',
] as const

/** One of `secretPurposes`. */
export type SecretPurpose = (typeof secretPurposes)[number]

/**
 * Hashes secrets of one purpose, for storage and look-up. A stored hash is `<key name>:<43 characters of base64url>`;
 * the old format has no name.
 */
export type SecretHasher = {
  /** Returns the hash to store: HMAC-SHA-256 with the first key of the ring. */
  hash(secret: string): string
  /** Returns every possible stored hash of a secret. Look up with `{ hash: { $in: hasher.hashes(secret) } }`. */
  hashes(secret: string): string[]
  /** Whether a stored hash is of this secret. Compares in constant time. */
  matches(stored: string, secret: string): boolean
  /** Returns the hash to store in place of this one; undefined if its key is the first of the ring. */
  renewal(stored: string, hashes: readonly string[]): string | undefined
}

/** A hasher per purpose. */
export type SecretHashers = Record<SecretPurpose, SecretHasher>

/**
 * Creates the hashers of a key ring. Each purpose has its own key, derived from the ring's with HKDF-SHA-256. Hashes in
 * the old format use the ring's unnamed key directly.
 */
export function createSecretHashers(ring: KeyRing): SecretHashers {
  const hashers = secretPurposes.map(purpose => [purpose, createSecretHasher(ring, purpose)] as const)
  return Object.fromEntries(hashers) as SecretHashers
}

function createSecretHasher(ring: KeyRing, purpose: SecretPurpose): SecretHasher {
  const keys = [...ring].map(([name, key]) => ({ prefix: `${name}:`, key: derive(key, purpose) }))
  const [newest] = keys
  if (!newest) throw new Error('a key ring needs a key')
  const bareKey = ring.get('')
  const nameOf = (stored: string) => stored.slice(0, Math.max(0, stored.indexOf(':')))

  const hashes = (secret: string) => [
    ...keys.map(({ prefix, key }) => prefix + digest(secret, key)),
    // Last: services of older versions read only the last hash.
    ...(bareKey ? [digest(secret, bareKey)] : []),
  ]

  return {
    hash: secret => newest.prefix + digest(secret, newest.key),
    hashes,
    matches: (stored, secret) => hashes(secret).some(hash => isSame(hash, stored)),
    renewal: (stored, known) =>
      `${nameOf(stored)}:` === newest.prefix ? undefined : known.find(hash => hash.startsWith(newest.prefix)),
  }
}

/** One fast hash is enough, because secrets are random or short-lived. Without the key a stolen database is useless. */
function digest(secret: string, key: KeyObject): string {
  return createHmac('sha256', key).update(secret).digest('base64url')
}

function derive(key: KeyObject, purpose: SecretPurpose): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync('sha256', key, '', `rollcall secret: ${purpose}`, 32)))
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}
