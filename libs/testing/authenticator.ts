import { createHmac } from 'node:crypto'

const STEP_MS = 30_000
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/**
 * An authenticator app for one secret (RFC 6238, SHA-1, 30 s, 6 digits), written apart from the library of the product.
 * `next` returns a code that it has not returned before: at most two are valid within one step of 30 seconds.
 */
export function createAuthenticator(secret: string): { next(): string } {
  const key = Buffer.from(
    [...secret]
      .map(character => BASE32.indexOf(character).toString(2).padStart(5, '0'))
      .join('')
      .match(/.{8}/g)!
      .map(byte => Number.parseInt(byte, 2)),
  )
  let last = 0
  return {
    next() {
      last = Math.max(last + 1, Math.floor(Date.now() / STEP_MS))
      return codeOf(key, last)
    },
  }
}

/** Returns the code of a time step (RFC 4226 §5.3). */
function codeOf(key: Buffer, step: number): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const digest = createHmac('sha1', key).update(counter).digest()
  const number = digest.readUInt32BE(digest.at(-1)! & 0xf) & 0x7fff_ffff
  return String(number % 1_000_000).padStart(6, '0')
}
