import { createSecretKey, type KeyObject } from 'node:crypto'

const MIN_KEY_BYTES = 32

/** Keys by name. The first one signs or hashes, all verify. */
export type KeyRing = ReadonlyMap<string, KeyObject>

/**
 * Reads a secret key from configuration: base64 or base64url of at least 32 bytes. Throws an error that does not
 * contain the text.
 */
export function parseSecretKey(text: string): KeyObject {
  const bytes = Buffer.from(text, 'base64')
  if (bytes.length < MIN_KEY_BYTES) throw new Error(`a key needs ${MIN_KEY_BYTES} bytes of base64 or more`)
  return createSecretKey(bytes)
}

/**
 * Reads a key ring from configuration: `<name>:<key>,<name>:<key>`, the current key first. To rotate: append the new
 * key, move it to the front, remove the old one. Throws an error that does not contain the text.
 */
export function parseKeyRing(text: string): KeyRing {
  return readRing(text.split(',').map(readNamedKey))
}

/**
 * Reads the key ring for hashes of stored secrets: like `parseKeyRing`, but one key may have no name (the old format).
 * Its name in the ring is ''. Throws an error that does not contain the text.
 */
export function parseHashKeys(text: string): KeyRing {
  return readRing(text.split(',').map(item => (item.includes(':') ? readNamedKey(item) : ['', item.trim()])))
}

type NamedKey = [name: string, key: string]

function readNamedKey(item: string): NamedKey {
  const [name, key, ...rest] = item.trim().split(':')
  if (!name || !key || rest.length > 0) throw new Error('a key ring is written <name>:<key>,<name>:<key>')
  return [name, key]
}

function readRing(items: NamedKey[]): KeyRing {
  const ring = new Map<string, KeyObject>()
  for (const [name, key] of items) {
    if (ring.has(name)) throw new Error(`the key ring holds ${name || 'a key without a name'} twice`)
    ring.set(name, parseSecretKey(key))
  }
  return ring
}
