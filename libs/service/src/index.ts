export { type Base, type Definition, type DomainConfig, defineService, type Service } from './define-service.ts'
export { ERASED, type Person, personOf } from './person.ts'
export { type HeldData, ofAccounts, type PersonalData, type PersonalDataOf } from './personal-data.ts'
export { type Held, holderOf, rotateSecrets, type SecretHolder } from './rotate-secrets.ts'
