import { createHmac, createSecretKey, hkdfSync, type KeyObject, timingSafeEqual } from 'node:crypto'
import type { KeyRing } from './keys.ts'

/** What a stored secret is for. A hash made for one purpose is valid for no other. */
export const secretPurposes = [
  'token',
  'client',
  'sign-in-code',
  'sign-in-request',
  'sign-in-address',
  'password-reset',
  'invitation',
  'mailed-invitation',
] as const

/** One of `secretPurposes`. */
export type SecretPurpose = (typeof secretPurposes)[number]

/**
 * Hashes secrets of one purpose, for storage and look-up. A stored hash is `<key name>:<43 characters of base64url>`, or
 * without the name where it is from before keys had names.
 */
export type SecretHasher = {
  /** The hash to store: HMAC-SHA-256 under the first key of the ring. */
  hash(secret: string): string
  /** Every hash that may be stored of a secret: look up by `{ hash: { $in: hasher.hashes(secret) } }`. */
  hashes(secret: string): string[]
  /** Whether a stored hash is of this secret. Its duration does not tell how much of them agrees. */
  matches(stored: string, secret: string): boolean
  /** Which of a secret's hashes to store instead of this one; undefined while its key is the first of the ring. */
  renewal(stored: string, hashes: readonly string[]): string | undefined
}

/** A hasher for each purpose. */
export type SecretHashers = Record<SecretPurpose, SecretHasher>

/**
 * Makes the hashers of a ring of keys. Each purpose has a key of its own, derived from the ring's (HKDF-SHA-256). Secrets
 * hashed before keys had names are found by the bare key, which is the nameless one of the ring.
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
    // Last, where services that know no other look for it.
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

/** A secret is random or short-lived, so one fast hash is enough; the key makes a stolen database useless alone. */
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
