import { AppError } from '@rollcall/contract'
import type { Collections } from '../context.ts'
import type { Domain } from './domain.model.ts'

/** A domain of the organization by its id. Throws `not_found`. */
export async function findDomain(domains: Collections['domains'], id: string): Promise<Domain> {
  const domain = await domains.findOne({ _id: id })
  if (!domain) throw new AppError('domain.not_found')
  return domain
}
