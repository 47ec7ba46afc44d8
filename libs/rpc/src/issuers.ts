import { AppError } from '@rollcall/contract'
import type { Assertion } from './assertion.ts'
import type { Caller } from './caller.ts'

/** Whom services may speak for, by the service. */
type Issuers = Readonly<Record<string, readonly Caller['kind'][]>>

/** Of every rpc that a route leads to: people and API tokens come by the gateway alone. */
const ofRoutes: Issuers = { gateway: ['session', 'token', 'anonymous'] }

const ofImports: Issuers = { import: ['service', 'session', 'token'] }

/** Of the rpcs that no route leads to: every call between services is declared here. */
const ofInternals: Readonly<Record<string, Issuers>> = {
  '/rollcall.audience.v1.Attributes/DescribeAttributes': ofImports,
  '/rollcall.audience.v1.Batches/ApplyBatch': ofImports,
  '/rollcall.audience.v1.Batches/CheckLists': ofImports,
  '/rollcall.audience.v1.Batches/UndoBatch': ofImports,
  '/rollcall.identity.v1.Credentials/ResolveSession': { gateway: ['service'] },
  '/rollcall.identity.v1.Credentials/ResolveToken': { gateway: ['service'] },
  '/rollcall.identity.v1.Directory/FindUsers': { audience: ['service'], messaging: ['service'] },
  '/rollcall.identity.v1.Organizations/FindOrganization': { messaging: ['service'] },
  '/rollcall.identity.v1.TokenUsage/RecordUsage': { gateway: ['service'] },
  '/rollcall.messaging.v1.Mail/SendMail': { identity: ['service'] },
}

/** Who may call an rpc, by its path. @throws {Error} where nobody is declared */
export function issuersOf(rpc: string, hasRoute: boolean): Issuers {
  const issuers = hasRoute ? ofRoutes : ofInternals[rpc]
  if (!issuers) throw new Error(`${rpc} has neither a route nor declared callers`)
  return issuers
}

/** Whether a service may make a call for a caller; as a service it speaks for itself alone. */
export function requireIssuer(issuers: Issuers, { issuer, caller }: Assertion): void {
  const isDeclared = Object.hasOwn(issuers, issuer) && issuers[issuer]!.includes(caller.kind)
  const isItself = caller.kind !== 'service' || caller.userName === issuer
  if (isDeclared && isItself) return
  throw new AppError('caller.issuer_denied', { issuer, kind: caller.kind })
}
