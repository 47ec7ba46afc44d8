import { randomBytes } from 'node:crypto'

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
 * Id of a token in the credential cache. It ends like the secret and therefore like the preview, by which a change can
 * name the token whichever key its hash was made with.
 */
export function tokenCacheId(hash: string, secret: string): string {
  return `${hash}.${secret.slice(-1)}`
}
