import { busSettings, createBus, topics } from '@rollcall/bus'
import { startJobs } from '@rollcall/jobs'
import { serveWithin } from '@rollcall/rpc'
import type { Lifecycle } from '@rollcall/runtime'
import { connectStore, createInbox, migrate, startRelay, storeSettings } from '@rollcall/store'
import type { Config } from './config.ts'
import { createContext } from './context.ts'
import { domainMonitorJob } from './domains/domain-monitor.job.ts'
import { domains } from './domains/domains.ts'
import { mail } from './mail/mail.ts'
import { providers } from './provider/provider.ts'
import { onUserDeleted } from './senders/on-user-deleted.ts'
import { senders } from './senders/senders.ts'

/** Starts the messaging service: sending domains, senders and the mail that goes out, over gRPC. */
export async function startMessaging(config: Config, lifecycle: Lifecycle): Promise<{ port: number }> {
  const { logger, metrics, health } = lifecycle
  const store = await connectStore({ ...storeSettings(config), logger })
  lifecycle.onStop('store', store.close)
  health.addReadyCheck('mongodb', store.ping)

  const context = createContext(config, store, lifecycle)
  if (config.MIGRATE_AT_START) await migrate(store, logger)

  const bus = createBus({ ...busSettings(config), clientId: 'messaging', logger, metrics, inbox: createInbox(store) })
  lifecycle.onStop('bus', bus.close)
  const relay = startRelay({ store, publish: events => bus.publish(topics.messaging, events), logger, metrics })
  lifecycle.onStop('outbox', relay.stop)

  bus.subscribe(onUserDeleted(context))
  startJobs(lifecycle, [context.mailJob, domainMonitorJob(context)])

  return serveWithin(lifecycle, config, {
    'rollcall.messaging.v1.Domains': domains(context),
    'rollcall.messaging.v1.Mail': mail(context),
    'rollcall.messaging.v1.Providers': providers(context),
    'rollcall.messaging.v1.Senders': senders(context),
  })
}
