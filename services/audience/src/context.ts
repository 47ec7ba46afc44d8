import type { Client } from '@rollcall/rpc'
import { createMatchMemory, type MatchMemory } from '@rollcall/store'
import { createValueDropper, type ValueDropper } from './attributes/value-dropper.ts'
import type { Data } from './data.ts'
import { createListJobs, type ListJobs } from './lists/list-jobs.ts'

/** What handlers work with. */
export type Context = Data & {
  dropper: ValueDropper
  listJobs: ListJobs
  /** What filters of contacts match. Whoever writes a contact touches, takes, releases or locks its positions. */
  matches: MatchMemory
  /** Who the accounts of an organization are. */
  directory: Client<'rollcall.identity.v1.Directory'>
  limits: Limits
}

/** How many records of a kind an organization may have. */
export type Limits = { lists: number; attributes: number }

/** Makes the context of the service. */
export function createContext(data: Data, directory: Context['directory'], limits: Limits): Context {
  const { store, models, logger } = data
  const dropper = createValueDropper({ store, ...models, logger })
  return { ...data, directory, limits, dropper, listJobs: createListJobs(data), matches: createMatchMemory() }
}
