import { createSecrets, type Secrets } from '@rollcall/credentials'
import { type AddressPolicy, createPoster, type Poster } from '@rollcall/egress'
import type { DueJob } from '@rollcall/jobs'
import type { Logger } from '@rollcall/runtime'
import type { Base } from '@rollcall/service'
import type { Store } from '@rollcall/store'
import type { Collections } from './collections.ts'
import type { Config } from './config.ts'
import { type Circuits, createCircuits } from './deliveries/circuits.ts'
import { deliveryJob } from './deliveries/deliver.job.ts'
import { retentionJob } from './events/retention.job.ts'

/** Dependencies of handlers, consumers and jobs. */
export type Context = {
  config: Config
  store: Store
  collections: Collections
  logger: Logger
  secrets: Secrets
  /** Which servers webhooks may name. */
  addressPolicy: AddressPolicy
  poster: Poster
  /** How many requests an endpoint gets at once. */
  circuits: Circuits
  /** Job that sends due deliveries. */
  deliveryJob: DueJob
  /** Job that changes when stored events expire. */
  retentionJob: DueJob
  /** Counts attempts by outcome. */
  attempted: { inc(labels: { outcome: 'delivered' | 'failed' }): void }
}

const MAX_ANSWER_BYTES = 16 * 1024

/** Creates the context with its connections. */
export function createContext({ config, store, collections, lifecycle }: Base<Config, Collections>): Context {
  const { logger, metrics, onStop } = lifecycle
  const addressPolicy = { allowPrivate: config.WEBHOOK_ALLOW_PRIVATE }
  const timeoutMs = config.WEBHOOK_TIMEOUT_MS
  const limits = { timeoutMs, maxBodyBytes: MAX_ANSWER_BYTES }
  const poster = createPoster({ policy: addressPolicy, proxy: config.WEBHOOK_PROXY, ...limits })
  onStop('connections to webhooks', async () => poster.close())
  const context: Context = {
    config,
    store,
    collections,
    logger,
    secrets: createSecrets(config.SECRET_KEYS),
    addressPolicy,
    poster,
    circuits: createCircuits(),
    deliveryJob: deliveryJob(collections.unscoped.deliveries, () => context),
    retentionJob: retentionJob(collections.unscoped.retentions, () => context),
    attempted: metrics.counter({
      name: 'rollcall_webhook_attempts_total',
      help: 'Requests to webhooks, by outcome',
      labels: ['outcome'],
    }),
  }
  return context
}
