import { type Client, connect, rpcSettings } from '@rollcall/rpc'
import type { Logger } from '@rollcall/runtime'
import type { Base } from '@rollcall/service'
import type { Store } from '@rollcall/store'
import type { Collections } from './collections.ts'
import type { Config } from './config.ts'

/** Dependencies of handlers and jobs. */
export type Context = {
  config: Config
  store: Store
  collections: Collections
  logger: Logger
  /** Tells who gets mail. */
  recipients: Client<'rollcall.audience.v1.Recipients'>
  organizations: Client<'rollcall.identity.v1.Organizations'>
}

/** Creates the context with its connections. */
export function createContext({ config, store, collections, lifecycle }: Base<Config, Collections>): Context {
  const { logger, onStop } = lifecycle
  const audience = connect({ ...rpcSettings(config), address: config.AUDIENCE_ADDRESS })
  onStop('connection to audience', async () => audience.close())
  const identity = connect({ ...rpcSettings(config), address: config.IDENTITY_ADDRESS })
  onStop('connection to identity', async () => identity.close())
  return {
    config,
    store,
    collections,
    logger,
    recipients: audience.client('rollcall.audience.v1.Recipients'),
    organizations: identity.client('rollcall.identity.v1.Organizations'),
  }
}
