import type { DueJob } from '@rollcall/jobs'
import { type Client, connect, rpcSettings } from '@rollcall/rpc'
import type { Logger } from '@rollcall/runtime'
import type { Base } from '@rollcall/service'
import type { Store } from '@rollcall/store'
import { campaignJob, runCampaign } from './campaigns/campaign.job.ts'
import { createSending, type Sending } from './campaigns/sending.ts'
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
  /** Sends the mails of campaigns. */
  sending: Sending
  /** Job that runs campaigns. */
  job: DueJob
  organizations: Client<'rollcall.identity.v1.Organizations'>
}

/** Creates the context with its connections. */
export function createContext({ config, store, collections, lifecycle }: Base<Config, Collections>): Context {
  const { logger, onStop } = lifecycle
  const audience = connect({ ...rpcSettings(config), address: config.AUDIENCE_ADDRESS })
  onStop('connection to audience', async () => audience.close())
  const identity = connect({ ...rpcSettings(config), address: config.IDENTITY_ADDRESS })
  onStop('connection to identity', async () => identity.close())
  const messaging = connect({ ...rpcSettings(config), address: config.MESSAGING_ADDRESS })
  onStop('connection to messaging', async () => messaging.close())
  const context: Context = {
    config,
    store,
    collections,
    logger,
    recipients: audience.client('rollcall.audience.v1.Recipients'),
    sending: createSending(messaging.client('rollcall.messaging.v1.Mailings')),
    job: campaignJob(collections.unscoped.campaigns, campaign => runCampaign(context, campaign)),
    organizations: identity.client('rollcall.identity.v1.Organizations'),
  }
  return context
}
