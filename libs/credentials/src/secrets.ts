import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import type { KeyRing } from './keys.ts'

/** An encrypted secret: AES-256-GCM with the named key; all parts are base64. */
export type Sealed = { key: string; iv: string; data: string; tag: string }

/** Encrypts and decrypts stored secrets. */
export type Secrets = {
  /** Name of the encrypting key, the first of the ring. */
  newest: string
  /**
   * Encrypts with the newest key. `place` names where the secret is stored, for example organization and field. A
   * sealed secret does not open at another place.
   */
  seal(text: string, place: string): Sealed
  /** Decrypts. @throws if the key is not in the ring, or the secret was altered or belongs to another place */
  open(sealed: Sealed, place: string): string
  /** Whether it is encrypted with another key than the newest. */
  isStale(sealed: Sealed): boolean
}

const IV_BYTES = 12

/** Creates the encryption for a key ring, whose first key encrypts. */
export function createSecrets(ring: KeyRing): Secrets {
  const keys = new Map([...ring].map(([name, key]) => [name, cipherKey(key.export())]))
  const [newest = ''] = keys.keys()
  const keyOf = (name: string) => {
    const key = keys.get(name)
    if (!key) throw new Error(`no key ${name} to open a stored secret with`)
    return key
  }
  return {
    newest,
    seal(text, place) {
      const iv = randomBytes(IV_BYTES)
      const cipher = createCipheriv('aes-256-gcm', keyOf(newest), iv).setAAD(Buffer.from(place))
      const data = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return {
        key: newest,
        iv: iv.toString('base64'),
        data: data.toString('base64'),
        tag: cipher.getAuthTag().toString('base64'),
      }
    },
    open({ key, iv, data, tag }, place) {
      const decipher = createDecipheriv('aes-256-gcm', keyOf(key), Buffer.from(iv, 'base64'), { authTagLength: 16 })
      decipher.setAAD(Buffer.from(place)).setAuthTag(Buffer.from(tag, 'base64'))
      return Buffer.concat([decipher.update(data, 'base64'), decipher.final()]).toString('utf8')
    },
    isStale: ({ key }) => key !== newest,
  }
}

/** Derives a key: those of a ring may have any length, and may be used for other purposes. */
function cipherKey(key: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', 'rollcall stored secrets', 32))
}
