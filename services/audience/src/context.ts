import type { Client } from '@rollcall/rpc'
import { createMatchMemory, type MatchMemory } from '@rollcall/store'
import { type DropValuesJob, dropValuesJob } from './attributes/drop-values.job.ts'
import type { Data } from './data.ts'
import { type ListMembersJob, listMembersJob } from './lists/list-members.job.ts'

/** What handlers work with. */
export type Context = Data & {
  dropValuesJob: DropValuesJob
  listMembersJob: ListMembersJob
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
  const jobs = { dropValuesJob: dropValuesJob(data), listMembersJob: listMembersJob(data) }
  return { ...data, ...jobs, directory, limits, matches: createMatchMemory() }
}
