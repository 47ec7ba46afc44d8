import { createHmac, randomBytes } from 'node:crypto'
import { generateURI, generateSecret as newTotpSecret, verifySync } from 'otplib'

const RECOVERY_CODES = 10
/** 80 bits, as 16 characters of `RECOVERY_ALPHABET`: too many to guess, even from a stolen hash. */
const RECOVERY_CODE_LENGTH = 16
/** Base32 of RFC 4648 in lower case. Its 32 characters divide the values of a byte evenly. */
const RECOVERY_ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567'
/** Clocks of phones differ: the previous and the next code are valid too (RFC 6238 §5.2). */
const TOLERANCE_SECONDS = 30

/** A new secret of an authenticator app: base32 of 160 bits, and its key URI, which a QR code shows. */
export type TotpSetup = { secret: string; uri: string }

/** Returns a new secret for an account, with the name that the app shows. */
export function newTotp({ issuer, label }: { issuer: string; label: string }): TotpSetup {
  const secret = newTotpSecret()
  // A colon separates issuer and label in a key URI.
  return { secret, uri: generateURI({ issuer: issuer.replaceAll(':', ' '), label, secret }) }
}

/** Returns the time step that a code is for (RFC 6238: 30 s, 6 digits); undefined if it is wrong now. */
export function stepOf(secret: string, code: string): number | undefined {
  if (!/^\d{6}$/.test(code)) return undefined
  const found = verifySync({ secret, token: code, epochTolerance: TOLERANCE_SECONDS })
  return found.valid && 'timeStep' in found ? found.timeStep : undefined
}

/** Returns ten new recovery codes, as `abcd-efgh-ijkl-mnop`. */
export function newRecoveryCodes(): string[] {
  return Array.from({ length: RECOVERY_CODES }, () => {
    const characters = [...randomBytes(RECOVERY_CODE_LENGTH)].map(byte => RECOVERY_ALPHABET[byte % 32])
    return characters.join('').replace(/.{4}(?=.)/g, '$&-')
  })
}

/**
 * Returns the hash to store of a recovery code. Its key is the account's TOTP secret, which is stored encrypted: so the
 * hashes outlive a rotation of keys.
 */
export function recoveryHash(secret: string, code: string): string {
  const plain = code.toLowerCase().replace(/[\s-]/g, '')
  return createHmac('sha256', `recovery code ${secret}`).update(plain).digest('base64url')
}
