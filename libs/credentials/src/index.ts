export { isAllowedAddress, isInBlocks } from './address.ts'
export {
  type CachedValue,
  type ChangeScope,
  type CredentialCache,
  type CredentialCacheOptions,
  type CredentialRef,
  createCredentialCache,
  type Lookup,
} from './cache.ts'
export {
  type Credential,
  type CredentialSource,
  type CredentialSources,
  type MalformedCode,
  parseCredential,
} from './credential.ts'
export type { CacheRedis } from './fences.ts'
export { type KeyRing, parseHashKeys, parseKeyRing, parseSecretKey } from './keys.ts'
export { type CacheConnectionOptions, connectCacheRedis } from './redis.ts'
export { createSecretHashers, type SecretHasher, type SecretHashers, type SecretPurpose } from './secret-hasher.ts'
export { createSecrets, type Sealed, type Secrets } from './secrets.ts'
export { createSessionJwt, type SessionClaims, type SessionJwt, type SessionJwtOptions } from './session-jwt.ts'
export {
  bytesOfIds,
  createSignedTokens,
  idsOfBytes,
  type SignedTokenOptions,
  type SignedTokenPurpose,
  type SignedTokens,
} from './signed-tokens.ts'
export { formatToken, generateSecret, previewToken, tokenCacheId } from './token-secret.ts'
