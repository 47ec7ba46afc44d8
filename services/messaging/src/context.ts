import { AppError, emailKeyOf } from '@rollcall/contract'
import { createSecrets, type Secrets } from '@rollcall/credentials'
import type { AddressPolicy } from '@rollcall/egress'
import type { DueJob, LeaseJob } from '@rollcall/jobs'
import type {
  ChangePreferencesRequest,
  CheckedRecipient,
  Preferences,
  Recipient,
} from '@rollcall/protos/gen/audience-v1.ts'
import type { DirectoryUser } from '@rollcall/protos/gen/identity-v1.ts'
import { connect, rpcSettings, serviceCaller } from '@rollcall/rpc'
import type { Logger } from '@rollcall/runtime'
import type { Base } from '@rollcall/service'
import type { Store } from '@rollcall/store'
import type { Collections } from './collections.ts'
import type { Config } from './config.ts'
import { createResolver, type OpenLookups } from './dns/resolver.ts'
import { systemServers } from './dns/server-address.ts'
import type { PublishedStatus } from './mail/mail-events.ts'
import { sendMail, sendMailJob } from './mail/send-mail.job.ts'
import { createSmtpConnections, type SmtpConnections } from './mail/smtp.ts'
import type { Mailing } from './mailings/mailing.model.ts'
import { sendMailing, sendMailingsJob } from './mailings/send-mailings.job.ts'
import { createMailLinks, type MailLinks } from './pages/mail-links.ts'
import { createOauthAccounts, type OauthAccounts } from './senders/oauth-accounts.ts'

export type { DirectoryUser }

/** Dependencies of handlers and jobs. */
export type Context = {
  config: Config
  store: Store
  collections: Collections
  logger: Logger
  secrets: Secrets
  /** Opens DNS lookups. */
  lookups: OpenLookups
  /** Which mail servers senders may name. */
  addressPolicy: AddressPolicy
  smtp: SmtpConnections
  /** Job that sends due mails. */
  mailJob: DueJob
  /** Job that sends mailings. */
  mailingsJob: LeaseJob<Mailing>
  /** Public links in mails of campaigns. */
  links: MailLinks
  /** Counter of finished mails by outcome. */
  mailsEnded: { inc(labels: { outcome: PublishedStatus }): void }
  /** OAuth mail accounts that users can connect. */
  accounts: OauthAccounts
  /** Returns the users of an organization with these ids; unknown ids are omitted. */
  findUsers(organizationId: string, ids: string[]): Promise<DirectoryUser[]>
  /** Returns of each recipient whether mail of the organization may go to it now, in the same order. */
  checkRecipients(organizationId: string, recipients: Recipient[], isCampaign: boolean): Promise<CheckedRecipient[]>
  /** Returns what a contact can choose; undefined if there is no such contact. */
  getPreferences(contact: { organizationId: string; contactId: string }): Promise<Preferences | undefined>
  /** Does what a recipient has chosen, and returns the preferences afterwards. */
  changePreferences(organizationId: string, change: ChangePreferencesRequest): Promise<Preferences | undefined>
  /**
   * Requires that an organization may mail an address. Unverified ones may mail only their owners.
   * @throws {AppError} organization.unverified
   */
  requireMailReach(organizationId: string, email: string): Promise<void>
  /** Returns the name of an organization. */
  organizationName(organizationId: string): Promise<string>
  /** Requires that an organization may mail everybody. @throws {AppError} organization.unverified */
  requireVerified(organizationId: string): Promise<void>
}

/** Creates the context with its connections. */
export function createContext({ config, store, collections, lifecycle }: Base<Config, Collections>): Context {
  const { logger, metrics, onStop } = lifecycle
  const identity = connect({ ...rpcSettings(config), address: config.IDENTITY_ADDRESS })
  onStop('connection to identity', async () => identity.close())
  const audience = connect({ ...rpcSettings(config), address: config.AUDIENCE_ADDRESS })
  onStop('connection to audience', async () => audience.close())
  const recipients = audience.client('rollcall.audience.v1.Recipients')
  const directory = identity.client('rollcall.identity.v1.Directory')
  const organizations = identity.client('rollcall.identity.v1.Organizations')
  const findOrganization = (organizationId: string) =>
    organizations.findOrganization({}, { caller: serviceCaller('messaging', organizationId) })
  const smtp = createSmtpConnections()
  onStop('connections to mail servers', async () => smtp.close())
  const context: Context = {
    config,
    store,
    collections,
    logger,
    secrets: createSecrets(config.SECRET_KEYS),
    lookups: createResolver({ servers: config.DNS_SERVERS ?? systemServers(), only: config.DNS_SERVERS !== undefined }),
    addressPolicy: { allowPrivate: config.SMTP_ALLOW_PRIVATE, allowExamples: true },
    smtp,
    mailsEnded: metrics.counter({
      name: 'rollcall_mails_ended_total',
      help: 'Mails finished, by outcome: sent, bounced, suppressed, or failed after all attempts',
      labels: ['outcome'],
    }),
    accounts: createOauthAccounts(config),
    async findUsers(organizationId, ids) {
      if (ids.length === 0) return []
      return (await directory.findUsers({ ids }, { caller: serviceCaller('messaging', organizationId) })).users
    },
    async checkRecipients(organizationId, asked, isCampaign) {
      const caller = serviceCaller('messaging', organizationId)
      return (await recipients.checkRecipients({ recipients: asked, isCampaign }, { caller })).recipients
    },
    async getPreferences({ organizationId, contactId }) {
      const caller = serviceCaller('messaging', organizationId)
      return (await recipients.getPreferences({ contactId }, { caller })).preferences ?? undefined
    },
    async changePreferences(organizationId, change) {
      const caller = serviceCaller('messaging', organizationId)
      return (await recipients.changePreferences(change, { caller })).preferences ?? undefined
    },
    async requireMailReach(organizationId, email) {
      const { verified, ownerEmails } = await findOrganization(organizationId)
      if (verified || ownerEmails.some(owner => emailKeyOf(owner) === emailKeyOf(email))) return
      throw new AppError('organization.unverified')
    },
    organizationName: async organizationId => (await findOrganization(organizationId)).name,
    async requireVerified(organizationId) {
      const { verified } = await findOrganization(organizationId)
      if (!verified) throw new AppError('organization.unverified')
    },
    links: createMailLinks(config),
    mailJob: sendMailJob(collections.unscoped.mails, mail => sendMail(context, mail)),
    mailingsJob: sendMailingsJob({ store, collections }, (mailing, slice) => sendMailing(context, mailing, slice)),
  }
  return context
}
