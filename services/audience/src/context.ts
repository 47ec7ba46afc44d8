import type { LeaseJob } from '@rollcall/jobs'
import { type Client, connect, rpcSettings } from '@rollcall/rpc'
import type { Logger } from '@rollcall/runtime'
import type { Base } from '@rollcall/service'
import {
  createMatchMemory,
  createPatternMatcher,
  type DueList,
  type MatchMemory,
  type PatternMatcher,
  type Store,
} from '@rollcall/store'
import { type DropValuesJob, dropValuesJob } from './attributes/drop-values.job.ts'
import { bulkJob } from './bulk/bulk.job.ts'
import type { BulkJob } from './bulk/bulk-job.model.ts'
import type { Collections } from './collections.ts'
import type { Config } from './config.ts'
import { columnsJob } from './contacts/columns.job.ts'
import { type ListMembersJob, listMembersJob } from './lists/list-members.job.ts'

/** The audience's data and logger. */
export type Data = { store: Store; collections: Collections; logger: Logger }

/** The dependencies of the handlers. */
export type Context = Data & {
  dropValuesJob: DropValuesJob
  listMembersJob: ListMembersJob
  /** Job that changes and deletes contacts in bulk. */
  bulkJob: LeaseJob<BulkJob>
  /** Cached match counts of contact filters. Every write of a contact also writes its positions, which invalidates them. */
  matches: MatchMemory
  /** Matches patterns of filters in a thread of its own. */
  patterns: PatternMatcher
  /** Job that writes the columns of contacts. */
  columnsJob: LeaseJob<DueList>
  /** Looks up the accounts of an organization. */
  directory: Client<'rollcall.identity.v1.Directory'>
  /** Tells which campaigns need a list or a segment. */
  uses: Client<'rollcall.campaigns.v1.Uses'>
  limits: Limits
}

/** How many records of a kind an organization can have. */
export type Limits = { lists: number; segments: number; attributes: number }

/** Creates the context of the service, with its connection to identity. */
export function createContext({ config, store, collections, lifecycle }: Base<Config, Collections>): Context {
  const identity = connect({ ...rpcSettings(config), address: config.IDENTITY_ADDRESS })
  lifecycle.onStop('connection to identity', async () => identity.close())
  const campaigns = connect({ ...rpcSettings(config), address: config.CAMPAIGNS_ADDRESS })
  lifecycle.onStop('connection to campaigns', async () => campaigns.close())
  const data = { store, collections, logger: lifecycle.logger }
  return {
    ...data,
    dropValuesJob: dropValuesJob(data),
    listMembersJob: listMembersJob(data),
    bulkJob: bulkJob(data),
    matches: createMatchMemory(),
    patterns: createPatternMatcher(),
    columnsJob: columnsJob(data),
    directory: identity.client('rollcall.identity.v1.Directory'),
    uses: campaigns.client('rollcall.campaigns.v1.Uses'),
    limits: { lists: config.MAX_LISTS, segments: config.MAX_SEGMENTS, attributes: config.MAX_ATTRIBUTES },
  }
}
