import { busSettings, createBus, topics } from '@rollcall/bus'
import { startJobs } from '@rollcall/jobs'
import { connect, rpcSettings, serveWithin } from '@rollcall/rpc'
import type { Lifecycle } from '@rollcall/runtime'
import { connectStore, createInbox, migrate, startRelay, storeSettings } from '@rollcall/store'
import { attributes } from './attributes/attributes.ts'
import { batches } from './batches/batches.ts'
import type { Config } from './config.ts'
import { contacts } from './contacts/contacts.ts'
import { createContext } from './context.ts'
import { createData } from './data.ts'
import { onEmailEvents } from './emails/on-email-events.ts'
import { onUserEvents } from './history/on-user-events.ts'
import { lists } from './lists/lists.ts'

/** Starts the audience service: contacts, their attributes, lists and history, over gRPC. */
export async function startAudience(config: Config, lifecycle: Lifecycle): Promise<{ port: number }> {
  const { logger, metrics, health } = lifecycle
  const store = await connectStore({ ...storeSettings(config), logger })
  lifecycle.onStop('store', store.close)
  health.addReadyCheck('mongodb', store.ping)

  const identity = connect({ ...rpcSettings(config), address: config.IDENTITY_ADDRESS })
  lifecycle.onStop('connection to identity', async () => identity.close())
  const limits = { lists: config.MAX_LISTS, attributes: config.MAX_ATTRIBUTES }
  const directory = identity.client('rollcall.identity.v1.Directory')
  const context = createContext(createData(store, logger), directory, limits)
  if (config.MIGRATE_AT_START) await migrate(store, logger)

  const bus = createBus({ ...busSettings(config), clientId: 'audience', logger, metrics, inbox: createInbox(store) })
  lifecycle.onStop('bus', bus.close)
  const relay = startRelay({ store, publish: events => bus.publish(topics.audience, events), logger, metrics })
  lifecycle.onStop('outbox', relay.stop)

  startJobs(lifecycle, [context.dropValuesJob, context.listMembersJob])

  const consumers = [bus.subscribe(onUserEvents(context)), bus.subscribe(onEmailEvents(context))]
  // Before the outbox: what they take in goes on from there.
  lifecycle.onStop('consumers', async () => void (await Promise.all(consumers.map(({ stop }) => stop()))))

  return serveWithin(lifecycle, config, {
    'rollcall.audience.v1.Contacts': contacts(context),
    'rollcall.audience.v1.Attributes': attributes(context),
    'rollcall.audience.v1.Batches': batches(context),
    'rollcall.audience.v1.Lists': lists(context),
  })
}
