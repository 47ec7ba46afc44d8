import { AppError } from '@rollcall/contract'
import type { Call } from '@rollcall/rpc'
import type { Context } from '../context.ts'
import { alive, type Link } from './link.model.ts'

/** Returns a link that is not deleted. @throws {AppError} link.not_found */
export async function findLink(context: Context, id: string, { caller }: Call): Promise<Link> {
  const link = await context.collections.of(caller.organizationId).links.findOne({ _id: id, ...alive })
  if (!link) throw new AppError('link.not_found')
  return link
}
