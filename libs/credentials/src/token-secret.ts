import { createHmac, type KeyObject, randomBytes, timingSafeEqual } from 'node:crypto'

/** The 62 alphanumerics without `O` and `l`, which are read as `0` and `1`. */
const alphabet = 'ABCDEFGHIJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz0123456789'
const secretLength = 60
/** Bytes from here on are thrown away: they would make the first letters of the alphabet likelier. */
const unbiasedBytes = 256 - (256 % alphabet.length)
const secretShape = new RegExp(`^[${alphabet}]{${secretLength}}$`)

/** Makes a token's secret: 60 characters, each drawn evenly from an alphabet of 60 (354 bits). */
export function generateSecret(): string {
  let secret = ''
  while (secret.length < secretLength) {
    for (const byte of randomBytes(secretLength - secret.length)) {
      if (byte < unbiasedBytes) secret += alphabet[byte % alphabet.length]
    }
  }
  return secret
}

/** Whether a text could have come from `generateSecret`; what could not is refused without a lookup. */
export function isSecretShaped(text: string): boolean {
  return secretShape.test(text)
}

/** Joins the two halves of an API token as its owner gets to see it, once. */
export function formatToken(organizationId: string, secret: string): string {
  return `${organizationId}:${secret}`
}

/** The masked form that listings show: `<orgId>:abcd********wxyz`. */
export function previewToken(organizationId: string, secret: string): string {
  return formatToken(organizationId, `${secret.slice(0, 4)}********${secret.slice(-4)}`)
}

/**
 * Hashes a secret for storage and lookup: HMAC-SHA-256 with the server's key, 43 characters of base64url. A secret is
 * random, so one fast hash is enough; the key makes a stolen database useless without the server.
 */
export function hashSecret(secret: string, key: KeyObject): string {
  return createHmac('sha256', key).update(secret).digest('base64url')
}

/** Compares two hashes without telling by its duration how much of them agrees. */
export function sameHash(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}
