import { AppError, emailKeyOf } from '@rollcall/contract'
import type { DueJob } from '@rollcall/jobs'
import type { DirectoryUser } from '@rollcall/protos/gen/identity-v1.ts'
import { type Call, connect, rpcSettings, serviceCaller } from '@rollcall/rpc'
import type { Lifecycle, Logger } from '@rollcall/runtime'
import { type Scope, type Store, scoped } from '@rollcall/store'
import type { Model } from 'mongoose'
import type { Config } from './config.ts'
import { createResolver, type OpenLookups } from './dns/resolver.ts'
import { systemServers } from './dns/server-address.ts'
import { type Domain, domainSchema } from './domains/domain.model.ts'
import { type BouncedAddress, bouncedAddressSchema, type Mail, type MailStatus, mailSchema } from './mail/mail.model.ts'
import type { AddressPolicy } from './mail/safe-host.ts'
import { sendMail, sendMailJob } from './mail/send-mail.job.ts'
import { createSmtpConnections, type SmtpConnections } from './mail/smtp.ts'
import { type Provider, providerSchema } from './provider/provider.model.ts'
import { createSecrets, type Secrets } from './secrets.ts'
import { createOauthAccounts, type OauthAccounts } from './senders/oauth-accounts.ts'
import { type OauthRequest, oauthRequestSchema } from './senders/oauth-request.model.ts'
import { type Sender, senderSchema } from './senders/sender.model.ts'
import { type UsageWindow, usageWindowSchema } from './usage.ts'

export type { DirectoryUser }

/** The collections of messaging. */
export type Models = {
  domains: Model<Domain>
  providers: Model<Provider>
  senders: Model<Sender>
  oauthRequests: Model<OauthRequest>
  mails: Model<Mail>
  bouncedAddresses: Model<BouncedAddress>
  usageWindows: Model<UsageWindow>
}

/** The collections as one organization sees them. */
export type Collections = {
  domains: Scope<Domain>
  providers: Scope<Provider>
  senders: Scope<Sender>
  oauthRequests: Scope<OauthRequest>
  mails: Scope<Mail>
  bouncedAddresses: Scope<BouncedAddress>
}

/** What handlers and jobs work with. */
export type Context = {
  config: Config
  store: Store
  models: Models
  logger: Logger
  secrets: Secrets
  /** How DNS is asked. */
  lookups: OpenLookups
  /** Which mail servers senders may name. */
  addressPolicy: AddressPolicy
  smtp: SmtpConnections
  /** Sends the mails that are due. */
  mailJob: DueJob
  /** Counts what becomes of mails. */
  mailsEnded: { inc(labels: { outcome: MailStatus }): void }
  /** Consumer mail accounts that people can connect. */
  accounts: OauthAccounts
  /** The accounts of an organization with these ids; unknown ones are left out. */
  findUsers(organizationId: string, ids: string[]): Promise<DirectoryUser[]>
  /** Requires that an organization may mail an address: one that is not verified mails its owners alone. @throws {AppError} forbidden */
  requireMailReach(organizationId: string, email: string): Promise<void>
  /** The collections as the caller's organization sees them. */
  of(caller: Pick<Call['caller'], 'organizationId'>): Collections
}

/** Declares the collections. */
export function modelsOf(store: Store): Models {
  return {
    domains: store.model('Domain', domainSchema),
    providers: store.model('Provider', providerSchema),
    senders: store.model('Sender', senderSchema),
    oauthRequests: store.model('OauthRequest', oauthRequestSchema),
    mails: store.model('Mail', mailSchema),
    bouncedAddresses: store.model('BouncedAddress', bouncedAddressSchema),
    usageWindows: store.model('UsageWindow', usageWindowSchema),
  }
}

/** Makes the context of the service, with its connections to others. */
export function createContext(config: Config, store: Store, { logger, metrics, onStop }: Lifecycle): Context {
  const models = modelsOf(store)
  const identity = connect({ ...rpcSettings(config), address: config.IDENTITY_ADDRESS })
  onStop('connection to identity', async () => identity.close())
  const directory = identity.client('rollcall.identity.v1.Directory')
  const organizations = identity.client('rollcall.identity.v1.Organizations')
  const smtp = createSmtpConnections()
  onStop('connections to mail servers', async () => smtp.close())
  const context: Context = {
    config,
    store,
    models,
    logger,
    secrets: createSecrets(config.SECRET_KEYS),
    lookups: createResolver({ servers: config.DNS_SERVERS ?? systemServers(), only: config.DNS_SERVERS !== undefined }),
    addressPolicy: { allowPrivate: config.SMTP_ALLOW_PRIVATE },
    smtp,
    mailsEnded: metrics.counter({
      name: 'rollcall_mails_ended_total',
      help: 'Mails that were sent, bounced, or failed after every attempt.',
      labels: ['outcome'],
    }),
    accounts: createOauthAccounts(config),
    async findUsers(organizationId, ids) {
      if (ids.length === 0) return []
      return (await directory.findUsers({ ids }, { caller: serviceCaller('messaging', organizationId) })).users
    },
    async requireMailReach(organizationId, email) {
      const caller = serviceCaller('messaging', organizationId)
      const { verified, ownerEmails } = await organizations.findOrganization({}, { caller })
      if (verified || ownerEmails.some(owner => emailKeyOf(owner) === emailKeyOf(email))) return
      throw new AppError('organization.unverified')
    },
    of: ({ organizationId }) => ({
      domains: scoped(models.domains, organizationId),
      providers: scoped(models.providers, organizationId),
      senders: scoped(models.senders, organizationId),
      oauthRequests: scoped(models.oauthRequests, organizationId),
      mails: scoped(models.mails, organizationId),
      bouncedAddresses: scoped(models.bouncedAddresses, organizationId),
    }),
    mailJob: sendMailJob(models.mails, mail => sendMail(context, mail)),
  }
  return context
}
