import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  X509Certificate,
} from 'node:crypto'

/** The Ed25519 key that a service signs its assertions with. */
export type SigningKey = { service: string; id: string; key: KeyObject }

/** The public keys of all services, by service and key id. A service has two during key rotation. */
export type PublicKeys = ReadonlyMap<string, KeyObject>

/** The signing key of a process, and the public keys of all services. */
export type Trust = { signingKey: SigningKey; publicKeys: PublicKeys }

/** Reads `<service>:<private key>`, a PKCS #8 structure in base64. @throws for anything but an Ed25519 key */
export function readSigningKey(text: string): SigningKey {
  const { service, der } = split(text)
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  return { service, id: idOf(createPublicKey(key)), key: requireEd25519(key) }
}

/**
 * Reads `<service>:<public key>` entries separated by commas: a SubjectPublicKeyInfo in base64, or a certificate that
 * holds one. @throws for anything but Ed25519 keys
 */
export function readPublicKeys(text: string): PublicKeys {
  return new Map(
    text.split(',').map(part => {
      const { service, der } = split(part)
      const key = requireEd25519(readPublicKey(der))
      return [keyName(service, idOf(key)), key]
    }),
  )
}

/** Returns the name of a key in `PublicKeys`. */
export function keyName(service: string, id: string): string {
  return `${service}/${id}`
}

/** Returns a new random key in the format of `readSigningKey`. */
export function newSigningKey(service: string): string {
  const { privateKey } = generateKeyPairSync('ed25519')
  return `${service}:${privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64')}`
}

/** The keys of a service, by the names of their variables. */
export type KeySettings = { ASSERTION_KEY: string; ASSERTION_PUBLIC_KEYS: string }

/** Returns the settings of each service: its own signing key, and the public keys of all. */
export function keySettings<N extends string>(signingKeys: Readonly<Record<N, string>>): Record<N, KeySettings> {
  const entries = Object.entries<string>(signingKeys)
  const ASSERTION_PUBLIC_KEYS = entries.map(([, key]) => publicKeyOf(key)).join(',')
  return Object.fromEntries(
    entries.map(([service, key]) => [service, { ASSERTION_KEY: key, ASSERTION_PUBLIC_KEYS }]),
  ) as Record<N, KeySettings>
}

/** Returns settings with new keys for services that only trust each other. */
export function newKeySettings<N extends string>(services: readonly N[]): Record<N, KeySettings> {
  return keySettings(Object.fromEntries(services.map(name => [name, newSigningKey(name)])) as Record<N, string>)
}

/** Reads the keys of a service. @throws {RangeError} if they are malformed */
export function readTrust({ ASSERTION_KEY, ASSERTION_PUBLIC_KEYS }: KeySettings): Trust {
  return { signingKey: readSigningKey(ASSERTION_KEY), publicKeys: readPublicKeys(ASSERTION_PUBLIC_KEYS) }
}

function publicKeyOf(signingKey: string): string {
  const { service, key } = readSigningKey(signingKey)
  return `${service}:${createPublicKey(key).export({ format: 'der', type: 'spki' }).toString('base64')}`
}

function split(text: string): { service: string; der: Buffer } {
  const [, service, base64] = /^([a-z][a-z0-9-]*):([\w+/]+={0,2})$/i.exec(text.trim()) ?? []
  if (service === undefined || base64 === undefined) throw new RangeError('expected <service>:<key>')
  return { service, der: Buffer.from(base64, 'base64') }
}

function readPublicKey(der: Buffer): KeyObject {
  try {
    return createPublicKey({ key: der, format: 'der', type: 'spki' })
  } catch {
    return new X509Certificate(der).publicKey
  }
}

function requireEd25519(key: KeyObject): KeyObject {
  if (key.asymmetricKeyType !== 'ed25519') throw new RangeError('expected an Ed25519 key')
  return key
}

/** Returns the start of the key's SHA-256, which both sides can compute. */
function idOf(publicKey: KeyObject): string {
  const der = publicKey.export({ format: 'der', type: 'spki' })
  return createHash('sha256').update(der).digest('base64url').slice(0, 11)
}
