import { AppError, emailKeyOf } from '@rollcall/contract'
import { createSecretHashers, createSecrets, type SecretHasher, type Secrets } from '@rollcall/credentials'
import type { AddressPolicy } from '@rollcall/egress'
import type { DueJob, LeaseJob } from '@rollcall/jobs'
import type {
  ChangePreferencesRequest,
  CheckedRecipient,
  Preferences,
  Recipient,
} from '@rollcall/protos/gen/audience-v1.ts'
import type { TemplateContent } from '@rollcall/protos/gen/campaigns-v1.ts'
import type { DirectoryUser } from '@rollcall/protos/gen/identity-v1.ts'
import { connect, rpcSettings, serviceCaller } from '@rollcall/rpc'
import type { Logger } from '@rollcall/runtime'
import type { Base } from '@rollcall/service'
import type { Store } from '@rollcall/store'
import type { Collections } from './collections.ts'
import type { Config } from './config.ts'
import { createResolver, type OpenLookups } from './dns/resolver.ts'
import { systemServers } from './dns/server-address.ts'
import { createMailCounters, type MailCounters } from './mail/mail-counters.ts'
import { sendMail, sendMailJobs } from './mail/send-mail.job.ts'
import { createSmtpConnections, type SmtpConnections } from './mail/smtp.ts'
import type { Mailing } from './mailings/mailing.model.ts'
import { sendMailing, sendMailingsJob } from './mailings/send-mailings.job.ts'
import { createMailLinks, type MailLinks } from './pages/mail-links.ts'
import type { ReturnOutcome } from './returns/bounce-server.ts'
import { createOauthAccounts, type OauthAccounts } from './senders/oauth-accounts.ts'

import type { Track } from './tracking/track-html.ts'

export type { DirectoryUser }

/** An organization, as its mail needs it. */
export type MailingOrganization = {
  name: string
  /** What its mail counts unless it says otherwise; null: nothing. */
  defaultTracking: Track | null
}

/** Checked recipients that are held. */
export type HeldRecipients = { checked: CheckedRecipient[]; release(): Promise<void> }

/** Dependencies of handlers and jobs. */
export type Context = MailCounters & {
  config: Config
  store: Store
  collections: Collections
  logger: Logger
  secrets: Secrets
  /** Hashes erased addresses. */
  addressHasher: SecretHasher
  /** Opens DNS lookups. */
  lookups: OpenLookups
  /** Which mail servers senders may name. */
  addressPolicy: AddressPolicy
  smtp: SmtpConnections
  /** Connections for account mail, which must not wait behind campaigns that use the same server. */
  accountSmtp: SmtpConnections
  /** Job that sends due mails. */
  mailJob: DueJob
  /** Job that sends due account mail. */
  accountMailJob: DueJob
  /** Job that sends mailings. */
  mailingsJob: LeaseJob<Mailing>
  /** Public links in mails of campaigns. */
  links: MailLinks
  /** Counter of mails to the server for bounces by outcome. */
  mailsReturned: { inc(labels: { outcome: ReturnOutcome }): void }
  /** OAuth mail accounts that users can connect. */
  accounts: OauthAccounts
  /** Returns the users of an organization with these ids; unknown ids are omitted. */
  findUsers(organizationId: string, ids: string[]): Promise<DirectoryUser[]>
  /** Returns of each recipient whether mail of the organization may go to it now, in the same order. */
  checkRecipients(organizationId: string, recipients: Recipient[], isCampaign: boolean): Promise<CheckedRecipient[]>
  /**
   * As `checkRecipients`, and holds the contacts: a change after which one of them may not get the mail is answered only
   * after `release`, or after so many milliseconds.
   */
  holdRecipients(
    organizationId: string,
    recipients: Recipient[],
    options: { isCampaign: boolean; ms: number },
  ): Promise<HeldRecipients>
  /** Returns what a contact can choose; undefined if there is no such contact. */
  getPreferences(contact: { organizationId: string; contactId: string }): Promise<Preferences | undefined>
  /** Does what a recipient has chosen, and returns the preferences afterwards. */
  changePreferences(organizationId: string, change: ChangePreferencesRequest): Promise<Preferences | undefined>
  /**
   * Requires that an organization may mail an address, and returns it. Unverified ones may mail only their owners.
   * @throws {AppError} organization.unverified
   */
  requireMailReach(organizationId: string, email: string): Promise<MailingOrganization>
  /** Returns the addresses of an organization's owners. */
  ownersOf(organizationId: string): Promise<string[]>
  /** Returns the content of a template. @throws {AppError} template.unknown */
  findTemplate(organizationId: string, templateId: string): Promise<TemplateContent>
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
  const campaigns = connect({ ...rpcSettings(config), address: config.CAMPAIGNS_ADDRESS })
  onStop('connection to campaigns', async () => campaigns.close())
  const templates = campaigns.client('rollcall.campaigns.v1.TemplateContents')
  const recipients = audience.client('rollcall.audience.v1.Recipients')
  const directory = identity.client('rollcall.identity.v1.Directory')
  const organizations = identity.client('rollcall.identity.v1.Organizations')
  const findOrganization = (organizationId: string) =>
    organizations.findOrganization({}, { caller: serviceCaller('messaging', organizationId) })
  const smtp = createSmtpConnections()
  const accountSmtp = createSmtpConnections()
  onStop('connections to mail servers', async () => {
    smtp.close()
    accountSmtp.close()
  })
  const context: Context = {
    config,
    store,
    collections,
    logger,
    secrets: createSecrets(config.SECRET_KEYS),
    addressHasher: createSecretHashers(config.ERASURE_KEYS)['erased-address'],
    lookups: createResolver({
      servers: config.DNS_SERVERS ?? systemServers(),
      only: config.DNS_SERVERS !== undefined,
      ...(config.DNS_ZONES && { zones: config.DNS_ZONES }),
    }),
    addressPolicy: { allowPrivate: config.SMTP_ALLOW_PRIVATE, allowExamples: true },
    smtp,
    accountSmtp,
    ...createMailCounters(metrics),
    mailsReturned: metrics.counter({
      name: 'rollcall_mails_returned_total',
      help: 'Mails and connections to the server for bounces, by outcome: what they reported; ignored, refused, busy or dropped',
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
    async holdRecipients(organizationId, asked, { isCampaign, ms: holdMs }) {
      const caller = serviceCaller('messaging', organizationId)
      const { recipients: checked, holdId } = await recipients.checkRecipients(
        { recipients: asked, isCampaign, holdMs },
        { caller },
      )
      const release = async () => {
        if (holdId !== undefined) await recipients.releaseRecipients({ holdId }, { caller })
      }
      return { checked, release }
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
      const { verified, ownerEmails, name, defaultTracking } = await findOrganization(organizationId)
      const isOwner = ownerEmails.some(owner => emailKeyOf(owner) === emailKeyOf(email))
      if (!verified && !isOwner) throw new AppError('organization.unverified')
      return { name, defaultTracking: defaultTracking ?? null }
    },
    ownersOf: async organizationId => (await findOrganization(organizationId)).ownerEmails,
    findTemplate: (organizationId, templateId) =>
      templates.getTemplateContent({ templateId }, { caller: serviceCaller('messaging', organizationId) }),
    async requireVerified(organizationId) {
      const { verified } = await findOrganization(organizationId)
      if (!verified) throw new AppError('organization.unverified')
    },
    links: createMailLinks(config),
    ...sendMailJobs(collections.unscoped.mails, (mail, slice) => sendMail(context, mail, slice)),
    mailingsJob: sendMailingsJob({ store, collections }, (mailing, slice) => sendMailing(context, mailing, slice)),
  }
  return context
}
