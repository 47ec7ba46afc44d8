import { AppError, emailKeyOf } from '@rollcall/contract'
import type { DueJob } from '@rollcall/jobs'
import type { DirectoryUser } from '@rollcall/protos/gen/identity-v1.ts'
import { connect, rpcSettings, serviceCaller } from '@rollcall/rpc'
import type { Logger } from '@rollcall/runtime'
import type { Base } from '@rollcall/service'
import type { Store } from '@rollcall/store'
import type { Collections } from './collections.ts'
import type { Config } from './config.ts'
import { createResolver, type OpenLookups } from './dns/resolver.ts'
import { systemServers } from './dns/server-address.ts'
import type { MailStatus } from './mail/mail.model.ts'
import type { AddressPolicy } from './mail/safe-host.ts'
import { sendMail, sendMailJob } from './mail/send-mail.job.ts'
import { createSmtpConnections, type SmtpConnections } from './mail/smtp.ts'
import { createSecrets, type Secrets } from './secrets.ts'
import { createOauthAccounts, type OauthAccounts } from './senders/oauth-accounts.ts'

export type { DirectoryUser }

/** What handlers and jobs work with. */
export type Context = {
  config: Config
  store: Store
  collections: Collections
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
}

/** Makes the context of the service, with its connections to others. */
export function createContext({ config, store, collections, lifecycle }: Base<Config, Collections>): Context {
  const { logger, metrics, onStop } = lifecycle
  const identity = connect({ ...rpcSettings(config), address: config.IDENTITY_ADDRESS })
  onStop('connection to identity', async () => identity.close())
  const directory = identity.client('rollcall.identity.v1.Directory')
  const organizations = identity.client('rollcall.identity.v1.Organizations')
  const smtp = createSmtpConnections()
  onStop('connections to mail servers', async () => smtp.close())
  const context: Context = {
    config,
    store,
    collections,
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
    mailJob: sendMailJob(collections.unscoped.mails, mail => sendMail(context, mail)),
  }
  return context
}
