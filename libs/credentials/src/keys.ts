import { createSecretKey, type KeyObject } from 'node:crypto'

const shortestKeyBytes = 32

/** The keys that session JWTs are checked with, by their `kid`; the first one also signs. */
export type KeyRing = ReadonlyMap<string, KeyObject>

/** Reads a secret key from configuration: base64 or base64url of at least 32 bytes. Throws without repeating the text. */
export function parseSecretKey(text: string): KeyObject {
  const bytes = Buffer.from(text, 'base64')
  if (bytes.length < shortestKeyBytes) throw new Error(`a key needs ${shortestKeyBytes} bytes of base64 or more`)
  return createSecretKey(bytes)
}

/**
 * Reads a key ring from configuration: `<kid>:<key>,<kid>:<key>`, the signing key first. To rotate, put the new key in
 * front and leave the old one until the last JWT it signed has expired. Throws without repeating the text.
 */
export function parseKeyRing(text: string): KeyRing {
  const ring = new Map<string, KeyObject>()
  for (const item of text.split(',')) {
    const [kid, key, ...rest] = item.trim().split(':')
    if (!kid || !key || rest.length > 0) throw new Error('a key ring is written <kid>:<key>,<kid>:<key>')
    if (ring.has(kid)) throw new Error(`the key ring holds ${kid} twice`)
    ring.set(kid, parseSecretKey(key))
  }
  return ring
}
