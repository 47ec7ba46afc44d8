import { createBus, topics } from '@rollcall/bus'
import { serve } from '@rollcall/rpc'
import type { Lifecycle } from '@rollcall/runtime'
import { connectStore, migrate, startRelay } from '@rollcall/store'
import { attributes } from './attributes/attributes.ts'
import { batches } from './batches/batches.ts'
import type { Config } from './config.ts'
import { contacts } from './contacts/contacts.ts'
import { createContext } from './context.ts'

/** Starts the audience service: contacts, their attributes and history, over gRPC. */
export async function startAudience(config: Config, lifecycle: Lifecycle): Promise<{ port: number }> {
  const { logger, metrics, health } = lifecycle
  const store = await connectStore({ url: config.MONGODB_URL, dbName: config.MONGODB_DATABASE, logger })
  lifecycle.onStop('store', store.close)
  health.addReadyCheck('mongodb', store.ping)

  const context = createContext(store, logger)
  await migrate(store, logger)

  const bus = createBus({
    brokers: config.KAFKA_BROKERS,
    clientId: 'audience',
    logger,
    metrics,
    topicPrefix: config.TOPIC_PREFIX,
  })
  lifecycle.onStop('bus', bus.close)
  const relay = startRelay({ store, publish: events => bus.publish(topics.audience, events), logger, metrics })
  lifecycle.onStop('outbox', relay.stop)

  lifecycle.onStop('dropping of values', context.dropper.stop)
  await context.dropper.resume()

  const server = await serve({
    services: {
      'rollcall.audience.v1.Contacts': contacts(context),
      'rollcall.audience.v1.Attributes': attributes(context),
      'rollcall.audience.v1.Batches': batches(context),
    },
    port: config.PORT,
    host: config.LISTEN_HOST,
    assertionKeys: config.ASSERTION_KEY,
    logger,
    metrics,
  })
  lifecycle.onStop('grpc', server.stop)
  lifecycle.shutdown.addEventListener('abort', server.drain)
  return { port: server.port }
}
