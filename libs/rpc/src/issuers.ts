import { AppError } from '@rollcall/contract'
import type { Assertion } from './assertion.ts'
import type { Caller } from './caller.ts'

/** The kinds of caller that each service may act for. */
type Issuers = Readonly<Record<string, readonly Caller['kind'][]>>

/** For rpcs with a route: only the gateway calls them, for users and API tokens. */
const ofRoutes: Issuers = { gateway: ['session', 'token', 'anonymous'] }

const ofImports: Issuers = { import: ['service', 'session', 'token'] }

const ofCampaigns: Issuers = { campaigns: ['service', 'session', 'token'] }

/** For rpcs without a route: declares every call between services. */
const ofInternals: Readonly<Record<string, Issuers>> = {
  '/rollcall.audience.v1.Attributes/DescribeAttributes': ofImports,
  '/rollcall.audience.v1.Batches/ApplyBatch': ofImports,
  '/rollcall.audience.v1.Batches/CheckLists': ofImports,
  '/rollcall.audience.v1.Batches/UndoBatch': ofImports,
  '/rollcall.audience.v1.Recipients/ChangePreferences': { messaging: ['service'] },
  '/rollcall.audience.v1.Recipients/CheckRecipients': { campaigns: ['service'], messaging: ['service'] },
  '/rollcall.audience.v1.Recipients/CheckSelection': { campaigns: ['service'] },
  '/rollcall.audience.v1.Recipients/CountRecipients': { campaigns: ['service'] },
  '/rollcall.audience.v1.Recipients/GetPreferences': { messaging: ['service'] },
  '/rollcall.audience.v1.Recipients/ReleaseRecipients': { messaging: ['service'] },
  '/rollcall.audience.v1.Recipients/TakeRecipients': { campaigns: ['service'] },
  '/rollcall.audience.v1.SignUps/ApplySignUp': { content: ['service'] },
  '/rollcall.audience.v1.SignUps/CheckTargets': { content: ['service'] },
  '/rollcall.campaigns.v1.TemplateContents/GetTemplateContent': { messaging: ['service'] },
  '/rollcall.campaigns.v1.Uses/FindUse': { audience: ['service'] },
  '/rollcall.content.v1.Forms/CheckFormOrigin': { gateway: ['service'] },
  '/rollcall.content.v1.Links/RecordVisits': { gateway: ['service'] },
  '/rollcall.identity.v1.Credentials/ResolveSession': { gateway: ['service'] },
  '/rollcall.identity.v1.Credentials/ResolveToken': { gateway: ['service'] },
  '/rollcall.identity.v1.Directory/FindUsers': { audience: ['service'], messaging: ['service'] },
  '/rollcall.identity.v1.Organizations/FindOrganization': { campaigns: ['service'], messaging: ['service'] },
  '/rollcall.identity.v1.Origins/CheckOrigin': { gateway: ['service'] },
  '/rollcall.identity.v1.TokenUsage/RecordUsage': { gateway: ['service'] },
  '/rollcall.messaging.v1.Mail/CheckDefaultSender': { content: ['service'] },
  '/rollcall.messaging.v1.Mail/SendMail': { content: ['service'], identity: ['service'] },
  '/rollcall.messaging.v1.Mailings/PutMailing': ofCampaigns,
  '/rollcall.messaging.v1.Mailings/QueueRecipients': ofCampaigns,
  '/rollcall.messaging.v1.Mailings/CloseMailing': ofCampaigns,
  '/rollcall.messaging.v1.Mailings/SetMailingState': ofCampaigns,
  '/rollcall.messaging.v1.Mailings/RetryFailed': ofCampaigns,
  '/rollcall.messaging.v1.Mailings/GetMailing': ofCampaigns,
  '/rollcall.messaging.v1.Mailings/ListRecipients': ofCampaigns,
  '/rollcall.messaging.v1.Mailings/ExportRecipients': ofCampaigns,
  '/rollcall.messaging.v1.Mailings/SeriesOf': ofCampaigns,
  '/rollcall.messaging.v1.Mailings/LinksOf': ofCampaigns,
  '/rollcall.messaging.v1.Mailings/CheckSender': ofCampaigns,
  '/rollcall.messaging.v1.Mailings/SendTest': ofCampaigns,
  '/rollcall.people.v1.People/DescribePerson': { audience: ['session', 'token'] },
  '/rollcall.people.v1.People/ErasePerson': { audience: ['service'] },
}

/** Returns the allowed issuers of an rpc. @throws {Error} if none is declared */
export function issuersOf(rpc: string, hasRoute: boolean): Issuers {
  const issuers = hasRoute ? ofRoutes : ofInternals[rpc]
  if (!issuers) throw new Error(`${rpc} has neither a route nor declared callers`)
  return issuers
}

/** Refuses an issuer that may not act for the caller. A service acts as a service only for itself. @throws {AppError} caller.issuer_denied */
export function requireIssuer(issuers: Issuers, { issuer, caller }: Assertion): void {
  const isDeclared = Object.hasOwn(issuers, issuer) && issuers[issuer]!.includes(caller.kind)
  const isItself = caller.kind !== 'service' || caller.userName === issuer
  if (isDeclared && isItself) return
  throw new AppError('caller.issuer_denied', { issuer, kind: caller.kind })
}
