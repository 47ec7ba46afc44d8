import { createSignedTokens, type SignedTokens } from '@rollcall/credentials'
import type { DueJob } from '@rollcall/jobs'
import { type Caller, type Client, connect, rpcSettings, serviceCaller } from '@rollcall/rpc'
import type { Logger } from '@rollcall/runtime'
import type { Base } from '@rollcall/service'
import type { Store } from '@rollcall/store'
import { deletionJob } from './collections/delete-entries.job.ts'
import type { Collections } from './collections.ts'
import type { Config } from './config.ts'
import { SIGN_UP_SECONDS } from './forms/add-sign-up.ts'
import { signUpJob } from './forms/sign-up.job.ts'
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
  /** Job that makes contacts of submitted forms. */
  signUpJob: DueJob
  signUps: Client<'rollcall.audience.v1.SignUps'>
  mail: Client<'rollcall.messaging.v1.Mail'>
  /** The tokens of links that confirm addresses. */
  confirmations: SignedTokens
  /** Returns this service as the caller of another one. */
  self(organizationId: string): Caller
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
  const audience = connect({ ...rpcSettings(config), address: config.AUDIENCE_ADDRESS })
  onStop('connection to audience', async () => audience.close())
  const messaging = connect({ ...rpcSettings(config), address: config.MESSAGING_ADDRESS })
  onStop('connection to messaging', async () => messaging.close())
  const context: Context = {
    config,
    store,
    collections,
    logger,
    countryOf,
    clicks,
    deletionJob: deletionJob(collections.unscoped.deletions, () => context),
    signUpJob: signUpJob(collections.unscoped.signUps, () => context),
    signUps: audience.client('rollcall.audience.v1.SignUps'),
    mail: messaging.client('rollcall.messaging.v1.Mail'),
    confirmations: createSignedTokens(config.LINK_KEYS, 'confirmation', { ttlSeconds: SIGN_UP_SECONDS, clock: now }),
    self: organizationId => serviceCaller('content', organizationId),
    now,
  }
  return context
}
