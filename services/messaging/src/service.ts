import { busSettings, createBus, topics } from '@rollcall/bus'
import { rpcServerSettings, serve } from '@rollcall/rpc'
import type { Lifecycle } from '@rollcall/runtime'
import { connectStore, migrate, startRelay, storeSettings } from '@rollcall/store'
import type { Config } from './config.ts'
import { createContext } from './context.ts'
import { domains } from './domains/domains.ts'

/** Starts the messaging service: sending domains over gRPC. */
export async function startMessaging(config: Config, lifecycle: Lifecycle): Promise<{ port: number }> {
  const { logger, metrics, health } = lifecycle
  const store = await connectStore({ ...storeSettings(config), logger })
  lifecycle.onStop('store', store.close)
  health.addReadyCheck('mongodb', store.ping)

  const context = createContext(config, store, logger)
  if (config.MIGRATE_AT_START) await migrate(store, logger)

  const bus = createBus({ ...busSettings(config), clientId: 'messaging', logger, metrics })
  lifecycle.onStop('bus', bus.close)
  const relay = startRelay({ store, publish: events => bus.publish(topics.messaging, events), logger, metrics })
  lifecycle.onStop('outbox', relay.stop)

  const server = await serve({
    services: {
      'rollcall.messaging.v1.Domains': domains(context),
    },
    ...rpcServerSettings(config),
    logger,
    metrics,
  })
  lifecycle.onStop('grpc', server.stop)
  lifecycle.shutdown.addEventListener('abort', server.drain)
  return { port: server.port }
}
