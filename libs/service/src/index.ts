export { type Base, type Definition, type DomainConfig, defineService, type Service } from './define-service.ts'
