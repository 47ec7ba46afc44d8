import { defineService } from '@rollcall/service'
import { collections } from './collections.ts'
import { readConfig } from './config.ts'
import { createContext } from './context.ts'
import { domainMonitorJob } from './domains/domain-monitor.job.ts'
import { domains } from './domains/domains.ts'
import { mail } from './mail/mail.ts'
import { onWebhookEvents } from './mail/on-webhook-events.ts'
import { mailings } from './mailings/mailings.ts'
import { messages } from './messages/messages.ts'
import { pages } from './pages/pages.ts'
import { personalData } from './personal-data.ts'
import { providers } from './provider/provider.ts'
import { startBounceListener } from './returns/bounce-listener.ts'
import { onUserDeleted } from './senders/on-user-deleted.ts'
import { senders } from './senders/senders.ts'
import { adoptBouncedAddresses } from './suppressions/adopt-bounced-addresses.ts'
import { onContactConfirmed } from './suppressions/on-contact-confirmed.ts'
import { suppressions } from './suppressions/suppressions.ts'

/** The messaging service: sending domains, senders and outgoing mail. */
export const service = defineService({
  name: 'messaging',
  config: readConfig,
  collections,
  context: createContext,
  prepare: context => adoptBouncedAddresses(context.collections),
  handlers: context => ({
    'rollcall.messaging.v1.Domains': domains(context),
    'rollcall.messaging.v1.Mail': mail(context),
    'rollcall.messaging.v1.Mailings': mailings(context),
    'rollcall.messaging.v1.Messages': messages(context),
    'rollcall.messaging.v1.Pages': pages(context),
    'rollcall.messaging.v1.Providers': providers(context),
    'rollcall.messaging.v1.Senders': senders(context),
    'rollcall.messaging.v1.Suppressions': suppressions(context),
  }),
  personalData,
  subscribers: context => [onUserDeleted(context), onContactConfirmed(context), onWebhookEvents(context)],
  listen: async (context, { config, lifecycle }) => {
    if (config.BOUNCE_SMTP_PORT === undefined) return
    const bounces = await startBounceListener(context, config.BOUNCE_SMTP_PORT)
    lifecycle.onStop('server for bounces', bounces.stop)
  },
  jobs: context => [context.mailJob, context.accountMailJob, context.mailingsJob, domainMonitorJob(context)],
})
