import { AppError } from '@rollcall/contract'
import type { Tenant } from '../collections.ts'
import { alive, type Link } from './link.model.ts'

/** Returns a link that is not deleted. @throws {AppError} link.not_found */
export async function findLink({ links }: Pick<Tenant, 'links'>, id: string): Promise<Link> {
  const link = await links.findOne({ _id: id, ...alive })
  if (!link) throw new AppError('link.not_found')
  return link
}
