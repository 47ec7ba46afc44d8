import type { DueJob } from '@rollcall/jobs'
import type { Logger } from '@rollcall/runtime'
import type { Base } from '@rollcall/service'
import type { Store } from '@rollcall/store'
import { deletionJob } from './collections/delete-entries.job.ts'
import type { Collections } from './collections.ts'
import type { Config } from './config.ts'
import { type ClickRecorder, createClickRecorder } from './links/click-recorder.ts'
import { type CountryOf, openCountries } from './links/countries.ts'

/** Dependencies of handlers and consumers. */
export type Context = {
  config: Config
  store: Store
  collections: Collections
  logger: Logger
  /** Returns the country of an address; undefined without a database of countries. */
  countryOf: CountryOf | undefined
  /** Counts clicks soon after they happen. */
  clicks: ClickRecorder
  /** Job that deletes the entries of deleted collections. */
  deletionJob: DueJob
  /** The time, in milliseconds since the epoch. */
  now: () => number
}

/** Creates the context, which counts clicks until the lifecycle stops it. */
export async function createContext(base: Base<Config, Collections>): Promise<Context> {
  const { config, store, collections, lifecycle, now } = base
  const { logger, metrics, onStop } = lifecycle
  const countryOf = config.GEOIP_FILE === undefined ? undefined : await openCountries(config.GEOIP_FILE)
  const clicks = createClickRecorder({ store, collections, countryOf, logger, metrics })
  onStop('clicks', clicks.stop)
  const context: Context = {
    config,
    store,
    collections,
    logger,
    countryOf,
    clicks,
    deletionJob: deletionJob(collections.unscoped.deletions, () => context),
    now,
  }
  return context
}
