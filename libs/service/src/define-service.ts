import {
  type BusConfig,
  busSettings,
  createBus,
  type Digest,
  type Feed,
  type Subscription,
  topics,
} from '@rollcall/bus'
import type { EventContext } from '@rollcall/contract'
import { type Job, startJobs } from '@rollcall/jobs'
import { type ServeOptions, type ServerConfig, serveWithin } from '@rollcall/rpc'
import { type BaseConfig, type Lifecycle, runService, runTask } from '@rollcall/runtime'
import {
  connectStore,
  createInbox,
  migrate,
  type Store,
  type StoreConfig,
  startRelay,
  storeSettings,
} from '@rollcall/store'
import type { ClientSession } from 'mongoose'
import { type PersonalData, type PersonalDataOf, servePeople } from './personal-data.ts'

/** The settings of every domain service. */
export type DomainConfig = BaseConfig & StoreConfig & BusConfig & ServerConfig

/** What the context of a service is made from. */
export type Base<C, K> = {
  config: C
  lifecycle: Lifecycle
  store: Store
  collections: K
  /** The time, in milliseconds since the epoch. */
  now: () => number
}

/** A domain service: its data, handlers, subscribers and jobs. */
export type Definition<C extends DomainConfig, K, X> = {
  name: EventContext
  /** Reads the settings. @throws {ConfigError} naming every bad variable */
  config: (env?: NodeJS.ProcessEnv) => C
  /** Declares the collections in the service's store. */
  collections: (store: Store) => K
  /** Creates the dependencies of handlers, subscribers and jobs. Registers how to close what it opens. */
  context: (base: Base<C, K>) => X | Promise<X>
  /** Creates records that the service needs, after the indexes. Idempotent. */
  prepare?: (context: X) => Promise<void>
  /** The handlers of every rpc, by gRPC service. */
  handlers: (context: X) => ServeOptions['services']
  /** What each collection holds of contacts, for their download and erasure. */
  personalData: PersonalDataOf<K, X>
  subscribers?: (context: X) => readonly (Subscription<ClientSession> | Digest<ClientSession> | Feed)[]
  jobs?: (context: X, base: Base<C, K>) => readonly Job[]
  /** Starts what listens besides the gRPC server. Registers how to stop it. */
  listen?: (context: X, base: Base<C, K>) => Promise<void>
}

/** What a start may replace, for tests: `now` is the time in milliseconds since the epoch. */
export type StartOptions = { now?: (() => number) | undefined }

/** A service that can be started. */
export type Service<C extends DomainConfig, K> = {
  name: EventContext
  config: (env?: NodeJS.ProcessEnv) => C
  /** What each collection holds of contacts. */
  personalData: Readonly<Record<string, PersonalData<never>>>
  /** Opens the service's database, which the lifecycle closes. Returns what the context is made from. */
  open(config: C, lifecycle: Lifecycle, now?: () => number): Promise<Base<C, K>>
  /** Starts the service in this process; its lifecycle stops it. Resolves with the port of its gRPC server. */
  start(config: C, lifecycle: Lifecycle, options?: StartOptions): Promise<{ port: number }>
  /** The body of `main.ts`: runs the service until the process receives a signal to stop. */
  run(): Promise<void>
  /** The body of `migrate.ts`: creates the indexes and runs `prepare`, where the start does not. */
  migrate(): Promise<void>
  /**
   * The body of a program that operators run on the service's database. `task` follows the service's name in the log;
   * `settings` replace those of the environment.
   */
  runTask(task: string, run: (base: Base<C, K>) => Promise<void>, settings?: Partial<DomainConfig>): Promise<void>
}

/** Defines a domain service. Every service starts this way, so that all start and stop in the same order. */
export function defineService<C extends DomainConfig, K, X>(definition: Definition<C, K, X>): Service<C, K> {
  const { name, config: readConfig } = definition
  const open: Service<C, K>['open'] = (config, lifecycle, now) => openDatabase(definition, config, lifecycle, now)
  const start: Service<C, K>['start'] = (config, lifecycle, options) =>
    startService(definition, config, lifecycle, options)
  const runOnDatabase: Service<C, K>['runTask'] = (task, run, settings = {}) =>
    runTask({
      name: `${name}-${task}`,
      config: readConfig,
      run: async (config, lifecycle) => run(await open({ ...config, ...settings }, lifecycle)),
    })
  return {
    name,
    config: readConfig,
    personalData: definition.personalData,
    open,
    start,
    run: () => runService({ name, config: readConfig, start }),
    migrate: () =>
      runOnDatabase('migration', async base => {
        await migrate(base.store, base.lifecycle.logger)
        if (definition.prepare) await definition.prepare(await definition.context(base))
      }),
    runTask: runOnDatabase,
  }
}

/**
 * Each part registers its stop before the parts that need it, and so stops after them: the server first, MongoDB last.
 */
async function startService<C extends DomainConfig, K, X>(
  definition: Definition<C, K, X>,
  config: C,
  lifecycle: Lifecycle,
  { now }: StartOptions = {},
): Promise<{ port: number }> {
  const { name, prepare, handlers, personalData, subscribers, jobs, listen } = definition
  const { logger, metrics, health, onStop } = lifecycle
  const base = await openDatabase(definition, config, lifecycle, now)
  const { store } = base
  health.addReadyCheck('mongodb', store.ping)
  const context = await definition.context(base)
  if (config.MIGRATE_AT_START) {
    await migrate(store, logger)
    await prepare?.(context)
  }

  const bus = createBus({ ...busSettings(config), clientId: name, logger, metrics, inbox: createInbox(store) })
  onStop('bus', bus.close)
  const relay = startRelay({ store, publish: events => bus.publish(topics[name], events), logger, metrics })
  onStop('outbox', relay.stop)

  startJobs(lifecycle, jobs?.(context, base) ?? [])

  const consumers = subscribers?.(context).map(subscription => bus.subscribe(subscription)) ?? []
  onStop('consumers', async () => void (await Promise.all(consumers.map(consumer => consumer.stop()))))

  await listen?.(context, base)
  const people = servePeople<X>(personalData, { context, store, bus })
  return serveWithin(lifecycle, config, { ...handlers(context), 'rollcall.people.v1.People': people })
}

async function openDatabase<C extends DomainConfig, K, X>(
  { name, collections }: Definition<C, K, X>,
  config: C,
  lifecycle: Lifecycle,
  now = Date.now,
): Promise<Base<C, K>> {
  const { logger } = lifecycle
  const store = await connectStore({ ...storeSettings(config), appName: `rollcall-${name}`, logger })
  lifecycle.onStop('mongodb', store.close)
  return { config, lifecycle, store, collections: collections(store), now }
}
