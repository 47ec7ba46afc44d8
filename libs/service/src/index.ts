export { type Base, type Definition, type DomainConfig, defineService, type Service } from './define-service.ts'
export { type Held, holderOf, rotateSecrets, type SecretHolder } from './rotate-secrets.ts'
