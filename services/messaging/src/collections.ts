import { defineCollections, holdSchema } from '@rollcall/store'
import { domainSchema } from './domains/domain.model.ts'
import { bouncedAddressSchema, mailSchema } from './mail/mail.model.ts'
import { sendingQuotaSchema } from './mail/sending-quota.ts'
import { mailingSchema } from './mailings/mailing.model.ts'
import { providerSchema } from './provider/provider.model.ts'
import { providerReportSchema } from './provider/provider-report.model.ts'
import { softBounceSchema } from './returns/soft-bounce.model.ts'
import { oauthRequestSchema } from './senders/oauth-request.model.ts'
import { senderSchema } from './senders/sender.model.ts'
import { suppressionSchema } from './suppressions/suppression.model.ts'
import { clickSchema } from './tracking/click.model.ts'
import { usageWindowSchema } from './usage.ts'

/** The collections of messaging. */
export const collections = defineCollections({
  domains: domainSchema,
  providers: providerSchema,
  senders: senderSchema,
  oauthRequests: oauthRequestSchema,
  mails: mailSchema,
  bouncedAddresses: bouncedAddressSchema,
  suppressions: suppressionSchema,
  clicks: clickSchema,
  providerReports: providerReportSchema,
  softBounces: softBounceSchema,
  mailings: mailingSchema,
  sendingQuotas: sendingQuotaSchema,
  usageWindows: usageWindowSchema,
  holds: holdSchema,
})

/** The collections of a store. */
export type Collections = ReturnType<typeof collections>
/** The collections of one organization. */
export type Tenant = ReturnType<Collections['of']>
