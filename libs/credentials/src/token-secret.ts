import { randomBytes } from 'node:crypto'

/** The 62 alphanumerics without `O` and `l`, which look like `0` and `1`. */
const ALPHABET = 'ABCDEFGHIJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz0123456789'
const SECRET_LENGTH = 60
/** Bytes from this value on are discarded, because they would make the alphabet's first letters more likely. */
const UNBIASED_BYTES = 256 - (256 % ALPHABET.length)
const SECRET_PATTERN = new RegExp(`^[${ALPHABET}]{${SECRET_LENGTH}}$`)

/** Returns a new secret of a token: 60 characters, each drawn evenly from an alphabet of 60 (354 bits). */
export function generateSecret(): string {
  let secret = ''
  while (secret.length < SECRET_LENGTH) {
    for (const byte of randomBytes(SECRET_LENGTH - secret.length)) {
      if (byte < UNBIASED_BYTES) secret += ALPHABET[byte % ALPHABET.length]
    }
  }
  return secret
}

/** Whether a text has the format of `generateSecret`; any other is rejected without a look-up. */
export function isSecretShaped(text: string): boolean {
  return SECRET_PATTERN.test(text)
}

/** Returns the API token as its owner sees it once: `<orgId>:<secret>`. */
export function formatToken(organizationId: string, secret: string): string {
  return `${organizationId}:${secret}`
}

/** Returns the masked form for listings: `<orgId>:abcd********wxyz`. */
export function previewToken(organizationId: string, secret: string): string {
  return formatToken(organizationId, `${secret.slice(0, 4)}********${secret.slice(-4)}`)
}

/**
 * Returns the id of a token in the credential cache. It ends with the last character of the secret, like the preview.
 * So a change can identify the token by its preview, whichever key made its hash.
 */
export function tokenCacheId(hash: string, secret: string): string {
  return `${hash}.${secret.slice(-1)}`
}
