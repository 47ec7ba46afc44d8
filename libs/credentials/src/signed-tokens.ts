import { createHmac, createSecretKey, hkdfSync, type KeyObject, timingSafeEqual } from 'node:crypto'
import type { KeyRing } from './keys.ts'

/** Purposes of signed tokens. A token is valid for its own purpose only. */
export type SignedTokenPurpose =
  | 'unsubscribe'
  | 'open'
  | 'click'
  | 'web-version'
  | 'bounce'
  | 'provider-webhook'
  | 'confirmation'

/** Signs and verifies the tokens of one purpose, which are public: anyone can read what they hold. */
export type SignedTokens = {
  /** Returns a token of these bytes, signed with the first key of the ring. */
  sign(content: Buffer): string
  /** Returns the bytes of a token; undefined if it was altered, cut, has expired or is of another purpose. */
  verify(token: string): Buffer | undefined
}

/** Options of `createSignedTokens`; they must be the same for the tokens of a purpose. */
export type SignedTokenOptions = {
  /** `base32` survives servers that change the case of a mail address. Default: `base64url`. */
  encoding?: 'base64url' | 'base32'
  /** How long a token is valid. Default: for ever. */
  ttlSeconds?: number
  /** Milliseconds since 1970. */
  clock?: () => number
}

/** A forger has to guess 2^80 per attempt, and attempts are counted by rate limits. */
const MAC_BYTES = 10
const EXPIRY_BYTES = 6

/**
 * Creates the tokens of a purpose: HMAC-SHA-256, truncated, before the content. Each purpose has its own key, derived
 * from those of the ring with HKDF-SHA-256. Each token has one spelling, so an altered one is never accepted.
 */
export function createSignedTokens(
  ring: KeyRing,
  purpose: SignedTokenPurpose,
  { encoding = 'base64url', ttlSeconds, clock = Date.now }: SignedTokenOptions = {},
): SignedTokens {
  const keys = [...ring.values()].map(key => derive(key, purpose))
  const [newest] = keys
  if (!newest) throw new Error('a key ring needs a key')
  const { encode, decode } = encodings[encoding]
  const expiryBytes = ttlSeconds === undefined ? 0 : EXPIRY_BYTES

  return {
    sign(content) {
      const expiry = Buffer.alloc(expiryBytes)
      if (ttlSeconds !== undefined) expiry.writeUIntBE(Math.floor(clock() / 1000) + ttlSeconds, 0, EXPIRY_BYTES)
      const signed = Buffer.concat([expiry, content])
      return encode(Buffer.concat([macOf(signed, newest), signed]))
    },
    verify(token) {
      const bytes = decode(token)
      if (!bytes || bytes.length < MAC_BYTES + expiryBytes || encode(bytes) !== token) return undefined
      const signed = bytes.subarray(MAC_BYTES)
      const mac = bytes.subarray(0, MAC_BYTES)
      if (!keys.some(key => timingSafeEqual(macOf(signed, key), mac))) return undefined
      if (ttlSeconds !== undefined && signed.readUIntBE(0, EXPIRY_BYTES) * 1000 <= clock()) return undefined
      return signed.subarray(expiryBytes)
    },
  }
}

function macOf(content: Buffer, key: KeyObject): Buffer {
  return createHmac('sha256', key).update(content).digest().subarray(0, MAC_BYTES)
}

function derive(key: KeyObject, purpose: SignedTokenPurpose): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync('sha256', key, '', `rollcall signed token: ${purpose}`, 32)))
}

const ID_BYTES = 12

/** Returns the bytes of ids, 12 each, for the content of a token. */
export function bytesOfIds(...ids: readonly string[]): Buffer {
  return Buffer.from(ids.join(''), 'hex')
}

/** Returns the first ids in the content of a token, and the rest. */
export function idsOfBytes(content: Buffer, count: number): { ids: string[]; rest: Buffer } {
  const ids = Array.from({ length: count }, (_, at) => content.toString('hex', at * ID_BYTES, (at + 1) * ID_BYTES))
  return { ids, rest: content.subarray(count * ID_BYTES) }
}

const encodings = {
  base64url: {
    encode: (bytes: Buffer) => bytes.toString('base64url'),
    decode: (text: string): Buffer | undefined => Buffer.from(text, 'base64url'),
  },
  base32: { encode: encodeBase32, decode: decodeBase32 },
}

/** The lower-case alphabet of RFC 4648 §6. */
const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567'

function encodeBase32(bytes: Buffer): string {
  const bits = [...bytes].map(byte => byte.toString(2).padStart(8, '0')).join('')
  return (bits.match(/.{1,5}/g) ?? []).map(five => BASE32[Number.parseInt(five.padEnd(5, '0'), 2)]).join('')
}

function decodeBase32(text: string): Buffer | undefined {
  if (!/^[a-z2-7]*$/.test(text)) return undefined
  const bits = [...text].map(letter => BASE32.indexOf(letter).toString(2).padStart(5, '0')).join('')
  return Buffer.from((bits.match(/.{8}/g) ?? []).map(byte => Number.parseInt(byte, 2)))
}
